import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { packedBytes } from '../../runtime/shapes/packed-weight.js'
import { callOperator, type Tensor, tensor } from '../../src/index.js'
import { integerWeight, LAYOUTS, packIntegers } from '../support/integer-weights.js'
import { asBytes, asRows, furthest, productOf, ROW_KINDS } from '../support/products.js'
import { launch, levels, newKernels, place } from '../support/web-kernels.js'

/** Products with weights in few bits by the kernels of WebAssembly, against the native ones, for weights that each format holds exactly. */

const { bfloat16, float16, int8, int4 } = kernels.WeightFormat
const { RowBytes } = kernels
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
    t.test(`${file}: a convolution with ${name}`, async (t) => {
      const { format, group, bytes } = rounding
      const [n, channels, side, width] = [20, 40, 7, 64]
      const k = 9 * width
      const most = Math.abs(end) - 1
      const filter = (o: number, c: number, tap: number): number =>
        (c % 32 === 0 ? end : (((o * 9 + tap) * 41 + c * 37) % (2 * most + 1)) - most) / 64
      const w = Float32Array.from({ length: n * channels * 9 }, (_, i) =>
        filter(Math.floor(i / channels / 9), Math.floor(i / 9) % channels, i % 9),
      )
      const x = Float32Array.from({ length: channels * side * side }, (_, i) => Math.sin(i))
      const bias = Float32Array.from({ length: n }, (_, i) => Math.cos(i))
      const weight = tensor(w, [n, channels, 3, 3])
      weight.storage.rounding = rounding
      const input = tensor(x, [1, channels, side, side])
      const wanted = (
        callOperator('aten::conv2d', [input, weight, tensor(bias, [n]), [2, 2], [1, 1], [1, 1], 1]) as Tensor
      ).data() as Float32Array

      const web = newKernels(file)
      const rows = Float32Array.from({ length: n * k }, (_, i) => {
        const [c, tap, o] = [i % width, Math.floor(i / width) % 9, Math.floor(i / k)]
        return c < channels ? filter(o, c, tap) : 0
      })
      const packed = web.take(packedBytes(format, n, k, group))
      const src = place(web, rows)
      launch(web, 'weight_pack', () => kernels.weight_pack({ format, n, k, group, n_stride: k, k_stride: 1, src, dst: packed }))
      const [image, added, output] = [place(web, x), place(web, bias), web.take(4 * wanted.length)]
      const sizes = { format, batch: 1, in_channels: channels, out_channels: n, group, bytes: Number(bytes), clamped: 0, lo: 0, hi: 0 }
      const windows = {
        in: [1, side, side],
        kernel: [1, 3, 3],
        stride: [1, 2, 2],
        padding: [0, 1, 1],
        dilation: [1, 1, 1],
        out: [1, 4, 4],
      }
      launch(web, 'packed_conv', () => kernels.packed_conv({ ...sizes, ...windows, input: image, weight: packed, bias: added, output }))
      const found = new Float32Array(web.exports.memory.buffer.slice(output, output + 4 * wanted.length))
      t.ok(furthest(found, wanted) < 1e-5 * 9 * channels)
    })

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
        const sizes = { format, m, n, k, group, scale: 0, zero: 0, bytes: Number(bytes), range: 0, clamped: 0, lo: 0, hi: 0, eps: 0 }
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
      const roundings: [number, ArrayLike<number>][] = [
        [RowBytes.none, x],
        [RowBytes.blocks, asBytes(x, k)],
        ...ROW_KINDS.map((kind): [number, Float64Array] => [RowBytes[kind], asRows(x, k, kind, 1e-6)]),
      ]
      for (const [bytes, rounded] of roundings) {
        const [input, out] = [place(web, x), web.take(m * n * 4)]
        const sizes = { format, m, n, k, group, scale, zero, bytes, range: 255, clamped: 0, lo: 0, hi: 0, eps: 1e-6 }
        launch(web, 'packed_linear', () => kernels.packed_linear({ ...sizes, x: input, weight: packed, bias: 0, out }))
        const found = new Float32Array(web.exports.memory.buffer.slice(out, out + m * n * 4))
        const difference = furthest(found, productOf(rounded, weight.numbers, k, null))
        t.ok(difference < 1e-6 * k, `${layout.name}, rows of kind ${bytes}: ${difference}`)
      }
    }
  })
}
