import t from 'tap'
import { callOperator, setNumThreads, type Tensor, tensor } from '../../src/index.js'

/* Linear layers of 16 bits, whose weight is packed at its second use. */

let seed = 5
function random(shape: readonly number[], dtype: 'bfloat16' | 'float16'): Tensor {
  const numbers = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 31 - 1
  })
  return tensor(numbers, shape).to(dtype)
}

const floats = (x: Tensor): Float32Array => x.to('float32').data() as Float32Array

/** In double precision. */
function reference(x: Float32Array, w: Float32Array, bias: Float32Array | null, m: number, n: number, k: number): number[] {
  return Array.from({ length: m * n }, (_, at) => {
    const [row, column] = [Math.floor(at / n), at % n]
    let sum = bias?.[column] ?? 0
    for (let i = 0; i < k; i++) sum += x[row * k + i]! * w[column * k + i]!
    return sum
  })
}

for (const [dtype, bits] of [
  ['bfloat16', 8],
  ['float16', 11],
] as const) {
  t.test(dtype, (t) => {
    t.teardown(() => setNumThreads(1))
    for (const [n, k] of [
      [16, 32],
      [17, 33],
      [1100, 70],
      [40, 257],
    ] as const)
      // prettier-ignore
      for (const m of [1, 3, 16, 65]) {
        for (const withBias of [false, true]) {
          const w = random([n, k], dtype)
          const bias = withBias ? random([n], dtype) : null
          const x = random([1, m, k], dtype)
          const want = reference(floats(x), floats(w), bias === null ? null : floats(bias), m, n, k)
          const results: Float32Array[] = []
          for (let call = 0; call < 4; call++) {
            setNumThreads(1 + (call % 2))
            const found = callOperator<Tensor>('aten::linear', [x, w, bias])
            t.strictSame([found.dtype, found.shape], [dtype, [1, m, n]])
            results.push(floats(found))
            // half a unit of the result, and what sums in float32 round
            const worst = want.reduce((most, v, i) => Math.max(most, Math.abs(v - results[call]![i]!) - Math.abs(v) * 2 ** -bits), 0)
            t.ok(worst < k * 2 ** -22, `${m} rows by [${n}, ${k}], call ${call}: ${worst}`)
          }
          t.strictSame(results[2], results[1])
          t.strictSame(results[3], results[1])
        }
      }
    t.end()
  })

  t.test(`${dtype}, a weight that is written to`, (t) => {
    const [x, w] = [random([2, 64], dtype), random([48, 64], dtype)]
    for (let call = 0; call < 6; call++) {
      if (call % 3 === 2) callOperator('aten::mul_.Scalar', [w, 2])
      const want = reference(floats(x), floats(w), null, 2, 48, 64)
      const found = floats(callOperator<Tensor>('aten::linear', [x, w, null]))
      t.ok(
        want.every((v, i) => Math.abs(v - found[i]!) <= Math.abs(v) * 2 ** -bits + 1e-4),
        `call ${call}`,
      )
    }
    t.end()
  })
}
