import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** What depends on a processor is in kernels/arch/, what depends on the system in kernels/os/. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const KERNELS = join(ROOT, 'kernels')

const files = readdirSync(KERNELS, { encoding: 'utf8', recursive: true })
  .filter((name) => /\.(cpp|h)$/.test(name) && !name.startsWith('generated'))
  .map((name) => ({ name, lines: readFileSync(join(KERNELS, name), 'utf8').split('\n') }))

/** Lines of files outside `allowed` that have a part like `pattern`. */
function found(pattern: RegExp, allowed: RegExp): string[] {
  return files
    .filter(({ name }) => !allowed.test(name))
    .flatMap(({ name, lines }) => lines.filter((line) => pattern.test(line)).map((line) => `${name}: ${line.trim()}`))
}

const INSTRUCTIONS =
  /\b_mm\d*_\w|\b__m(?:128|256|512|mask)|\b_tile_|__builtin_ia32|intrin\.h>|<cpuid\.h>|\basm\s*\(\s*"[^"]|\barm_neon|\bv[a-z][a-z0-9_]*_(?:[suf]|bf)(?:8|16|32|64)\b|\bCPU_CAPABILITY_[A-Z]|\b__AVX|\b__FMA__/
const CALLS = /#include <(?:sys\/|linux\/|unistd\.h|pthread\.h|dlfcn\.h|fcntl\.h|malloc\.h|sched\.h|time\.h|setjmp\.h)/

t.test('instructions of a processor', (t) => {
  t.ok(files.length > 200, `${files.length} files`)
  t.strictSame(found(INSTRUCTIONS, /^arch\//), [])
  t.not(found(INSTRUCTIONS, /^os\//).length, 0, 'the pattern knows instructions')
  t.end()
})

t.test('calls of the system', (t) => {
  t.strictSame(found(CALLS, /^os\//), [])
  t.not(found(CALLS, /^arch\//).length, 0, 'the pattern knows headers')
  t.end()
})

t.test('every processor has the headers that kernels include', (t) => {
  const primitives = (processor: string): string[] => readdirSync(join(KERNELS, 'arch', processor, 'primitives')).sort()
  const included = new Set(
    files.flatMap(({ name, lines }) =>
      name.startsWith('arch/')
        ? []
        : lines.flatMap((line) => [...line.matchAll(/^#include "primitives\/([^"]+)"/g)].map((match) => match[1]!)),
    ),
  )
  for (const processor of readdirSync(join(KERNELS, 'arch'), { withFileTypes: true })) {
    if (!processor.isDirectory()) continue
    const missing = [...included].filter((header) => !primitives(processor.name).includes(header))
    // what a processor does not have is the one for any; wide vectors alone are transposed in squares of eight
    const own = primitives('generic')
    t.strictSame(
      missing.filter((header) => !own.includes(header)),
      processor.name === 'x86' ? [] : ['transpose.h'],
      processor.name,
    )
  }
  t.end()
})

t.test('headers say what they are for', (t) => {
  const silent = files.filter(({ name, lines }) => name.endsWith('.h') && !lines[0]!.startsWith('// '))
  t.strictSame(
    silent.map(({ name }) => name),
    [],
  )
  t.end()
})

t.test('without an emulated Node the script says what is missing, and a library is built for known processors alone', (t) => {
  const emulate = spawnSync(process.execPath, ['scripts/emulate/emulate.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, PTLITE_EMULATED_NODE: '/nonexistent/node' },
  })
  t.equal(emulate.status, 77)
  t.match(emulate.stderr, /^emulate: nothing is run here; it needs: .*PTLITE_EMULATED_NODE/m)
  const build = spawnSync('scripts/build-native.sh', ['--target', 'linux-sparc'], { cwd: ROOT, encoding: 'utf8' })
  t.equal(build.status, 2)
  t.match(build.stderr, /unknown target 'linux-sparc'; expected linux-arm64/)
  t.end()
})

t.test('without a compiler for other targets the script says what is missing', (t) => {
  const { status, stderr } = spawnSync('scripts/compile-targets.sh', ['wasm32'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, PTLITE_CLANG: '/nonexistent/clang++' },
  })
  t.equal(status, 77)
  t.match(stderr, /^compile-targets: wasm32 cannot be compiled for here; it needs: clang-19 wasi-libc libc\+\+-19-dev-wasm32$/m)
  const unknown = spawnSync('scripts/compile-targets.sh', ['sparc'], { cwd: ROOT, encoding: 'utf8' })
  t.equal(unknown.status, 2)
  t.match(unknown.stderr, /unknown target sparc; expected wasm32 aarch64$/m)
  t.end()
})
