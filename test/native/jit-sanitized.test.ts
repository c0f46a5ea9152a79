import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// Generators, chains, post-ops and block-sparse products built with sanitizers, operands in front of pages that cannot be touched: what
// generated code reads or writes beyond them ends the process, and so does what the sanitizers find in the code around it.

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
execFileSync('cmake', ['-S', 'kernels', '-B', 'build'], { cwd: ROOT, stdio: 'ignore' })
execFileSync('cmake', ['--build', 'build', '--parallel', '2', '--target', 'sparse_test', 'asan_test', 'jit_postops'], {
  cwd: ROOT,
  stdio: 'pipe',
  encoding: 'utf8',
})

// a level that the CPU lacks falls to one it has
const PROGRAMS: readonly [string, RegExp, readonly string[]][] = [
  ['sparse_test', /^480 cases/, ['avx512', 'avx2', 'default']],
  ['asan_test', /all good/, ['avx512', 'avx2']],
]
for (const [program, good, levels] of PROGRAMS) {
  for (const level of levels) {
    await t.test(`${program}, ${level}`, (t) => {
      const env = { ...process.env, ATEN_CPU_CAPABILITY: level, ASAN_OPTIONS: 'detect_leaks=1' }
      const { status, stdout, stderr } = spawnSync(`${ROOT}build/${program}`, { encoding: 'utf8', env })
      t.equal(status, 0, `${stdout}${stderr.slice(-3000)}`)
      t.match(stdout, good)
      t.end()
    })
  }
}

await t.test('examples/jit-postops', (t) => {
  const { status, stdout, stderr } = spawnSync(`${ROOT}examples/jit-postops/run.sh`, { encoding: 'utf8' })
  t.equal(status, 0, stderr.slice(-2000))
  t.match(stdout, /largest error|no code can be generated/)
  t.end()
})
