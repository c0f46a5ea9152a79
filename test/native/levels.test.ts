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
const ORDER = ['DEFAULT', 'AVX2', 'AVX2_VNNI', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16', 'AMX', 'AVX512_FP16']

t.test('the variable lowers the level, in any case', (t) => {
  const used = cpu.report().levels.filter(({ inUse }) => inUse)
  const expected = LEVELS.map((wanted) => used.findLast(({ name }) => ORDER.indexOf(name) <= ORDER.indexOf(wanted.toUpperCase()))?.name)
  t.strictSame(
    LEVELS.map((level) => runAt(level).level),
    expected,
  )
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
  t.strictSame(
    cpu.report().levels.map(({ name }) => name),
    ORDER,
  )
  t.equal(cpu.highestBinaryLevel(), 'AVX512_FP16')
  t.end()
})
