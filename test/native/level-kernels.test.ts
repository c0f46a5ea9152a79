import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cpu } from '../../src/index.js'
import { expected, products } from './fixtures/int8-product.js'
import { nodeArguments } from '../support/node.js'

const SCRIPT = fileURLToPath(new URL('fixtures/level-kernels.ts', import.meta.url))

interface Report {
  readonly level: string
  readonly results: Readonly<Record<string, readonly number[]>>
}

function runAt(level: string): Report {
  const env = { ...process.env, ATEN_CPU_CAPABILITY: level }
  const text = execFileSync(process.execPath, nodeArguments(SCRIPT), { env, encoding: 'utf8', maxBuffer: 1 << 28 })
  return JSON.parse(text) as Report
}

const reference = runAt('DEFAULT')

/** How far a level may be from DEFAULT, by the first word of a result's name. */
const BOUNDS: Readonly<Record<string, (want: number) => number>> = {
  int8: () => 0,
  float16: () => 0,
  // k 2^-23 sum |a b| with k of at most 400 and factors below 1
  float32: () => 400 * 2 ** -23 * 400,
  float64: () => 400 * 2 ** -52 * 400,
  // sums of up to 162 products below 1 in float32, in another order: the rounding to bfloat16 may go the other way
  bfloat16: (want) => Math.abs(want) * 2 ** -7 + 164 * 2 ** -23 * 162,
}

/** What differs from `want` by more than the bound, one line for each result. */
function differences(got: Report['results'], want: Report['results']): string[] {
  return Object.entries(want).flatMap(([name, values]) => {
    const bound = BOUNDS[name.split(' ')[0]!]!
    const at = values.findIndex((x, i) => !(Math.abs(x - got[name]![i]!) <= bound(x)))
    return at < 0 && got[name]?.length === values.length ? [] : [`${name}: ${got[name]?.[at]} at ${at}, at DEFAULT ${values[at]}`]
  })
}

t.test('8-bit products at DEFAULT are what the definition says', (t) => {
  const names = Object.keys(reference.results).filter((name) => name.startsWith('int8 product'))
  t.equal(names.length, products().length)
  const wanted = Object.fromEntries(products().map((p, i) => [names[i], expected(p)]))
  t.strictSame(differences(reference.results, wanted), [])
  t.end()
})

for (const { name, inUse, reason } of cpu.report().levels.slice(1)) {
  t.test(`${name} against DEFAULT`, { skip: inUse ? false : `not run: ${reason}` }, (t) => {
    const { level, results } = runAt(name)
    t.equal(level, name)
    t.strictSame(differences(results, reference.results), [])
    t.end()
  })
}
