import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cpu } from '../../src/index.js'

const SCRIPT = fileURLToPath(new URL('fixtures/level-results.ts', import.meta.url))

interface Report {
  readonly level: string
  readonly results: Readonly<Record<string, readonly number[]>>
}

function runAt(level: string): Report {
  const env = { ...process.env, ATEN_CPU_CAPABILITY: level }
  return JSON.parse(execFileSync(process.execPath, ['--import=tsx', SCRIPT], { env, encoding: 'utf8' })) as Report
}

const LEVELS = ['default', 'AVX2', 'avx512']

t.test('the variable lowers the level', (t) => {
  const reports = LEVELS.map(runAt)
  const highest = LEVELS.findIndex((l) => l.toUpperCase() === cpu.highestCpuLevel())
  reports.forEach((r, i) => t.equal(r.level, LEVELS[Math.min(i, highest)]!.toUpperCase()))
  t.end()
})

t.test('no level changes a result by more than its bound', (t) => {
  const reference = runAt('default')
  for (const level of LEVELS.slice(1)) {
    for (const [name, got] of Object.entries(runAt(level).results)) {
      const want = reference.results[name]!
      const off = got.findIndex(
        (x, i) => !(Object.is(x, want[i]) || x === want[i] || Math.abs(x - want[i]!) <= 1e-6 * Math.abs(want[i]!) + 1e-7),
      )
      t.equal(off, -1, `${name} at ${level}: ${got[off]} and ${want[off]}`)
    }
  }
  t.end()
})

t.test('features and levels have names', (t) => {
  const features = cpu.features()
  t.equal(features['sse2'], true)
  t.equal(typeof features['avx512_bf16'], 'boolean')
  t.ok(['DEFAULT', 'AVX2', 'AVX512'].includes(cpu.currentLevel()))
  t.equal(cpu.highestBinaryLevel(), 'AVX512')
  t.end()
})
