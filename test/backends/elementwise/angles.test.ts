import t, { type Test } from 'tap'
import { callOperator, tensor, type Tensor } from '../../../src/index.js'

const EDGES = [0, -0, 1, -1, 0.4142, 2.4143, -2.5, 1e-30, 1e-42, 3e38, -3e38, Infinity, -Infinity, NaN]

function samples(): number[] {
  const values = [...EDGES]
  for (let i = 0; i < 4000; i++) values.push((((i * 7919) % 4001) / 2000 - 1) * 2 ** ((i % 41) - 20))
  return values.map(Math.fround)
}

const run = (name: string, ...args: number[][]): Float32Array =>
  (
    callOperator(
      `aten::${name}`,
      args.map((a) => tensor(Float32Array.from(a))),
    ) as Tensor
  ).data() as Float32Array

/** Within `ulps` units in the last place of the double result, signs of zeros and NaN included. */
function agrees(t: Test, what: string, got: Float32Array, want: number[], ulps: number): void {
  const wrong = want.flatMap((w, i) => {
    const g = got[i]!
    const exact = Math.fround(w)
    if (Object.is(g, exact)) return []
    const unit = 2 ** Math.max(-149, Math.floor(Math.log2(Math.abs(exact))) - 23)
    return exact !== 0 && Math.abs(g - w) <= ulps * unit ? [] : [`${what} #${i}: ${g}, expected ${exact}`]
  })
  t.same(wrong.slice(0, 5), [])
}

void t.test('inverse trigonometric functions and the tangent keep to a unit in the last place', (t) => {
  const x = samples()
  const inside = x.map((v) => Math.fround(Math.abs(v) > 1 ? 1 / v : v))
  const small = x.map((v) => (Math.abs(v) > 1e5 ? v % 1 : v))
  agrees(t, 'atan', run('atan', x), x.map(Math.atan), 1)
  agrees(t, 'asin', run('asin', inside), inside.map(Math.asin), 1)
  agrees(t, 'acos', run('acos', inside), inside.map(Math.acos), 1)
  agrees(t, 'tan', run('tan', small), small.map(Math.fround).map(Math.tan), 1)
  t.end()
})

void t.test('atan2 of every pair of edges', (t) => {
  const y = EDGES.flatMap((a) => EDGES.map(() => Math.fround(a)))
  const x = EDGES.flatMap(() => EDGES.map(Math.fround))
  const want = y.map((a, i) => Math.atan2(a, x[i]!))
  agrees(t, 'atan2', run('atan2', y, x), want, 1)
  t.end()
})
