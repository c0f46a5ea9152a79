import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cpu } from '../../src/index.js'

/**
 * The vector class by itself: every lane of every operation, loads and stores of every length and alignment, 16-bit floats,
 * and the error of exp, log, tanh and erf. One program per level whose vectors differ.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const levels = cpu.report().levels.filter(({ name }) => ['DEFAULT', 'AVX2', 'AVX512', 'AVX512_BF16', 'BF16'].includes(name))
const runnable = levels.filter(({ inCpu, inLibrary }) => inCpu && inLibrary)

execFileSync('cmake', ['-S', 'kernels', '-B', 'build'], { cwd: ROOT, stdio: 'ignore' })
execFileSync('cmake', ['--build', 'build', '--parallel', '2', '--target', ...runnable.map(({ name }) => `vec_test_${name}`)], {
  cwd: ROOT,
  stdio: 'pipe',
  encoding: 'utf8',
})

for (const level of levels) {
  const skip = runnable.includes(level) ? false : `not run: ${level.reason}`
  t.test(level.name, { skip }, (t) => {
    const { status, stdout, stderr } = spawnSync(`${ROOT}build/vec_test_${level.name}`, { encoding: 'utf8' })
    t.equal(status, 0, stderr)
    t.equal(stdout.trim().split('\n').length, 8, 'all functions were measured')
    t.end()
  })
}
