/**
 * `npm run test:sanitized [-- --levels default,avx2 --threads 1,2] [FILE ...]`: runs test files, and the conformance cases where ../shared holds
 * them, with the library of `npm run build:sanitized`, at each level and number of threads. Whatever a sanitizer finds ends the process, so the
 * test or case fails. No code is generated at run time: sanitizers cannot look into it (test/native/jit-sanitized.test.ts covers it).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../', import.meta.url))
const { values, positionals } = parseArgs({
  options: { levels: { type: 'string', default: 'default,avx2,avx512' }, threads: { type: 'string', default: '1,2' } },
  allowPositionals: true,
})
const sanitizers = process.env.PTLITE_SANITIZE ?? 'address,undefined'
const library = join(root, 'build/sanitized', sanitizers, 'libptlite.so')
if (!existsSync(library)) {
  console.error(`no ${library}; run 'npm run build:sanitized' first`)
  process.exit(2)
}
/** What calls kernels with values and sizes of all kinds. */
const TESTS = [
  'test/backends/extreme-values.test.ts',
  'test/backends/resampling.test.ts',
  'test/backends/quantized.test.ts',
  'test/backends/reduction.test.ts',
  'test/backends/zero-dimensions.test.ts',
  'test/compiler/random-graphs.test.ts',
  'test/compiler/replay.test.ts',
  'test/compiler/quantized-network.test.ts',
]

const runtime = sanitizers === 'thread' ? 'libtsan.so' : 'libasan.so'
const common = {
  // the runtime has to come before everything else that Node loads
  LD_PRELOAD: execFileSync('g++', [`-print-file-name=${runtime}`], { encoding: 'utf8' }).trim(),
  // Node frees nothing when it ends; V8 has a handler of its own for SIGSEGV, and asks for more memory than there is
  ASAN_OPTIONS:
    'detect_leaks=0:handle_segv=0:allocator_may_return_null=1:detect_odr_violation=0:quarantine_size_mb=16:malloc_context_size=5',
  UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
  TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1',
  PTLITE_JIT: '0',
  PTLITE_NATIVE_LIBRARY: library,
}

let failed = 0
function run(title, args, env, cpus) {
  const pin = cpus < availableParallelism() ? ['taskset', '-c', `0-${cpus - 1}`] : []
  const [command, ...rest] = [...pin, process.execPath, ...args]
  const { status } = spawnSync(command, rest, { cwd: root, stdio: 'inherit', env: { ...process.env, ...common, ...env } })
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${title}`)
  if (status !== 0) failed++
}

const shared = join(root, '../shared')
for (const level of values.levels.split(',')) {
  for (const threads of values.threads.split(',').map(Number)) {
    const env = { ATEN_CPU_CAPABILITY: level }
    const title = `${level}, ${threads} thread${threads === 1 ? '' : 's'}`
    run(`tests, ${title}`, ['scripts/test.mjs', ...(positionals.length > 0 ? positionals : TESTS)], env, threads)
    const check = join(shared, 'check/run-cases.mjs')
    if (positionals.length > 0 || !existsSync(check)) continue
    for (const [flag, folder] of [
      ['--ops', 'opcases'],
      ['--models', 'models'],
    ])
      // prettier-ignore
      run(`${folder}, ${title}`, [check, '--lib', 'dist/index.js', flag, join(shared, folder), '--min', '100'], env, threads)
  }
}
process.exit(failed === 0 ? 0 : 1)
