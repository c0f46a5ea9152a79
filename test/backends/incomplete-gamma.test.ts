import t from 'tap'
import { callOperator, type Tensor, tensor } from '../../src/index.js'

// gamma(a, x) / gamma(a), summed with 40 digits
const LOWER = [
  [0.5, 0.25, 0.5204998778130465],
  [9999, 10100, 0.84375241970504167],
  [10000, 10100, 0.84134875044717962],
  [10000, 10000, 0.5013298083399552],
  [10000, 9000, 2.0732992024338848e-25],
] as const

t.test('incomplete gamma functions, small and large', (t) => {
  const column = (i: 0 | 1): Tensor => tensor(Float64Array.from(LOWER, (row) => row[i]))
  const [lower, upper] = (['aten::igamma', 'aten::igammac'] as const).map((name) => [
    ...((callOperator(name, [column(0), column(1)]) as Tensor).data() as Float64Array),
  ]) as [number[], number[]]
  LOWER.forEach(([a, x, p], i) => {
    t.ok(Math.abs(lower[i]! - p) < 1e-11 * p, `igamma(${a}, ${x}) = ${lower[i]}`)
    t.ok(Math.abs(upper[i]! - (1 - p)) < 2e-11, `igammac(${a}, ${x}) = ${upper[i]}`)
  })
  t.end()
})

t.test('both ways of computing agree where one takes over, and beyond', (t) => {
  // the functions are smooth in a: a step of 1 from 9999 on changes them by what it does from 10000 on
  const a = Float64Array.from({ length: 6 }, (_, i) => 9997 + i)
  const x = a.map(() => 10050)
  const p = (callOperator('aten::igamma', [tensor(a), tensor(x)]) as Tensor).data() as Float64Array
  const steps = Array.from(p.subarray(1), (value, i) => value - p[i]!)
  for (let i = 1; i < steps.length; i++) t.ok(Math.abs(steps[i]! / steps[i - 1]! - 1) < 0.01, `${steps[i - 1]} ${steps[i]}`)
  const huge = callOperator('aten::igamma', [tensor(new Float64Array([1e10, 1e300, 1e300])), tensor(new Float64Array([2e10, 1e300, 1]))])
  t.strictSame([...((huge as Tensor).data() as Float64Array)], [1, 0.5, 0])
  t.end()
})
