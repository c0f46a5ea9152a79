import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { packedBytes } from '../../runtime/shapes/packed-weight.js'
import { callOperator, type Tensor, tensor } from '../../src/index.js'
import { integerWeight, LAYOUTS, packIntegers } from '../support/integer-weights.js'
import { asBytes, furthest, productOf } from '../support/products.js'
import { launch, levels, newKernels, place } from '../support/web-kernels.js'

/** Products with weights in few bits by the kernels of WebAssembly, against the native ones, for weights that each format holds exactly. */

const { bfloat16, float16, int8, int4 } = kernels.WeightFormat
const FORMATS = [
  { name: 'bfloat16', format: bfloat16, group: 0, bytes: false, end: 127 },
  { name: 'float16', format: float16, group: 0, bytes: false, end: 127 },
  { name: 'int8', format: int8, group: 0, bytes: true, end: 127 },
  { name: 'int8 with floats', format: int8, group: 32, bytes: false, end: 127 },
  { name: 'int4', format: int4, group: 32, bytes: true, end: -8 },
  { name: 'int4 with floats', format: int4, group: 64, bytes: false, end: -8 },
]

for (const file of levels) {
  for (const { name, end, ...rounding } of FORMATS) {
    t.test(`${file}: ${name}`, async (t) => {
      const { format, group, bytes } = rounding
      for (const [m, n, k] of [
        [1, 16, 32],
        [3, 37, 72],
        [9, 20, 96],
      ] as const) {
        const most = Math.abs(end) - 1
        const w = Float32Array.from({ length: n * k }, (_, i) => ((i % k) % 32 === 0 ? end : ((i * 37) % (2 * most + 1)) - most) / 64)
        const x = Float32Array.from({ length: m * k }, (_, i) => Math.sin(i))
        const bias = Float32Array.from({ length: n }, (_, i) => Math.cos(i))
        const weight = tensor(w, [n, k])
        weight.storage.rounding = rounding
        const wanted = (callOperator('aten::linear', [tensor(x, [m, k]), weight, tensor(bias, [n])]) as Tensor).data() as Float32Array

        const web = newKernels(file)
        const packed = web.take(packedBytes(format, n, k, group))
        const src = place(web, w)
        launch(web, 'weight_pack', () => kernels.weight_pack({ format, n, k, group, n_stride: k, k_stride: 1, src, dst: packed }))
        const [input, added, out] = [place(web, x), place(web, bias), web.take(m * n * 4)]
        const sizes = { format, m, n, k, group, scale: 0, zero: 0, bytes: Number(bytes), clamped: 0, lo: 0, hi: 0 }
        launch(web, 'packed_linear', () => kernels.packed_linear({ ...sizes, x: input, weight: packed, bias: added, out }))
        const found = new Float32Array(web.exports.memory.buffer.slice(out, out + m * n * 4))
        const furthest = found.reduce((most, v, i) => Math.max(most, Math.abs(v - wanted[i]!)), 0)
        t.ok(furthest < 1e-5 * k, `${m} x ${n} x ${k}: ${furthest}`)
      }
    })
  }

  t.test(`${file}: weights that are integers already`, async (t) => {
    const [m, n, k] = [3, 37, 72]
    const x = Float32Array.from({ length: m * k }, (_, i) => Math.sin(i))
    let step = 0
    for (const layout of LAYOUTS) {
      const weight = integerWeight(layout, n, k, (low, high) => low + ((step += 7) % (high - low + 1)))
      const web = newKernels(file)
      const memory = { place: (data: Uint8Array) => place(web, data), take: (bytes: number) => web.take(bytes) }
      const packed = packIntegers(layout, weight, memory, (call) => launch(web, 'weight_pack_integers', call))
      const { format, group, scale, zero } = layout
      for (const bytes of [0, 1]) {
        const [input, out] = [place(web, x), web.take(m * n * 4)]
        const sizes = { format, m, n, k, group, scale, zero, bytes, clamped: 0, lo: 0, hi: 0 }
        launch(web, 'packed_linear', () => kernels.packed_linear({ ...sizes, x: input, weight: packed, bias: 0, out }))
        const found = new Float32Array(web.exports.memory.buffer.slice(out, out + m * n * 4))
        const difference = furthest(found, productOf(bytes === 0 ? x : asBytes(x, k), weight.numbers, k, null))
        t.ok(difference < 1e-6 * k, `${layout.name}, ${bytes === 0 ? 'floats' : 'bytes'}: ${difference}`)
      }
    }
  })
}
