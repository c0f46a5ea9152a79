import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// block-sparse products built with sanitizers, operands in front of pages that cannot be touched; sparse/main.cpp

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
execFileSync('cmake', ['-S', 'kernels', '-B', 'build'], { cwd: ROOT, stdio: 'ignore' })
execFileSync('cmake', ['--build', 'build', '--parallel', '2', '--target', 'sparse_test'], { cwd: ROOT, stdio: 'pipe' })

// a level that the CPU lacks falls to one it has
for (const level of ['avx512', 'avx2', 'default']) {
  await t.test(level, (t) => {
    const env = { ...process.env, ATEN_CPU_CAPABILITY: level, ASAN_OPTIONS: 'detect_leaks=1' }
    const { status, stdout, stderr } = spawnSync(`${ROOT}build/sparse_test`, { encoding: 'utf8', env })
    t.equal(status, 0, stderr.slice(-3000))
    t.match(stdout, /^480 cases/)
    t.end()
  })
}
