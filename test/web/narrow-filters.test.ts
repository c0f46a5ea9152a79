import t from 'tap'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { callOperator, type Tensor, tensor } from '../../src/index.js'
import { furthest } from '../support/products.js'
import { launch, levels, newKernels, place } from '../support/web-kernels.js'

/** Convolutions over blocks of channels with filters of 16 bits by the kernels of WebAssembly, against the native ones. */

const [BLOCKS, CHANNELS, SIDE] = [2, 24, 9]
const CODES = { bfloat16: 15, float16: 5 } as const
const waves = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => Math.sin(i * 1.7))

for (const file of levels) {
  for (const dtype of ['bfloat16', 'float16'] as const) {
    t.test(`${file}: filters of ${dtype}`, (t) => {
      const filter = tensor(waves(BLOCKS * 9 * CHANNELS * 16), [BLOCKS, 3, 3, CHANNELS, 16]).to(dtype)
      const image = callOperator('ptlite::to_blocked', [tensor(waves(CHANNELS * SIDE * SIDE), [1, CHANNELS, SIDE, SIDE])]) as Tensor
      const settings = [[2, 2], [1, 1], [1, 1], -Infinity, Infinity]
      const native = callOperator('ptlite::blocked_convolution', [image, filter, null, null, ...settings]) as Tensor
      const transformed = callOperator('ptlite::winograd_blocked_filter', [filter]) as Tensor

      const web = newKernels(file)
      const bits = place(web, new Uint8Array((filter.data() as Uint16Array).buffer))
      const [input, output, positions] = [
        place(web, image.data() as Float32Array),
        web.take(4 * native.numel),
        web.take(4 * transformed.numel),
      ]
      const sizes = { in: [1, SIDE, SIDE], kernel: [1, 3, 3], stride: [1, 2, 2], padding: [0, 1, 1], dilation: [1, 1, 1], out: [1, 5, 5] }
      const counts = { batch: 1, in_channels: CHANNELS, out_blocks: BLOCKS, groups: 1, group_outputs: 0, depth: CHANNELS }
      const rest = { plain: 0, filter_dtype: CODES[dtype], clamped: 0, strip: 2, by_filters: 0, bias: 0, residual: 0, lo: 0, hi: 0 }
      launch(web, 'blocked_conv', () => kernels.blocked_conv({ ...counts, ...rest, ...sizes, input, filter: bits, output }, null))
      const close = (at: number, wanted: Tensor, bound: number): void => {
        const numbers = wanted.data() as Float32Array
        const off = furthest(new Float32Array(web.exports.memory.buffer, at, numbers.length), numbers)
        t.ok(off < bound, `off by ${off}`)
      }
      close(output, native, 1e-4)
      const slices = { dtype: CODES[dtype], blocks: BLOCKS, inputs: CHANNELS, taps: 1 }
      launch(web, 'winograd_blocked_filter', () => kernels.winograd_blocked_filter({ ...slices, input: bits, output: positions }))
      close(positions, transformed, 1e-6)
      t.end()
    })
  }
}
