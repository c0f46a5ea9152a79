import t from 'tap'
import { callOperator, PtliteError, tensor, type Tensor } from '../../src/index.js'
import { atEveryLevel } from '../support/again.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data(), Number)
const call = (op: string, ...args: unknown[]): unknown => callOperator(`aten::${op}`, args as never[])
const row = (...list: number[]): Tensor => tensor(Float32Array.from(list), [1, 1, list.length])

t.test('padding', (t) => {
  const x = row(1, 2, 3)
  t.strictSame(numbers(call('constant_pad_nd', x, [1, -1], 9)), [9, 1, 2])
  t.strictSame(numbers(call('reflection_pad1d', x, [2, 1])), [3, 2, 1, 2, 3, 2])
  t.strictSame(numbers(call('replication_pad1d', x, [2, 1])), [1, 1, 1, 2, 3, 3])
  t.strictSame(numbers(call('pad', x, [1, 2], 'circular')), [3, 1, 2, 3, 1, 2])
  // what is cut off does not come back
  t.strictSame(numbers(call('pad', row(0, 1, 2, 3, 4), [2, -2], 'circular')), [1, 2, 0, 1, 2])
  t.strictSame(numbers(call('pad', row(0, 1, 2, 3, 4), [-1, 2], 'circular')), [1, 2, 3, 4, 1, 2])
  t.throws(() => call('pad', x, [-2, 2], 'circular'), PtliteError)
  t.throws(() => call('reflection_pad1d', x, [3, 0]), PtliteError)
  t.throws(() => call('pad', x, [1, 1], 'mirror'), PtliteError)
  t.end()
})

t.test('resampling', (t) => {
  const x = row(0, 1, 2, 3)
  t.strictSame(numbers(call('upsample_nearest1d', x, [8])), [0, 0, 1, 1, 2, 2, 3, 3])
  t.strictSame(numbers(call('upsample_nearest1d.vec', x, null, [0.5])), [0, 2])
  t.strictSame(numbers(call('upsample_linear1d', x, [7], true)), [0, 0.5, 1, 1.5, 2, 2.5, 3])
  t.strictSame(numbers(call('upsample_linear1d', x, [2], false)), [0.5, 2.5])
  t.strictSame(numbers(call('__interpolate', x, 2, null, 'area')), [0.5, 2.5])
  t.throws(() => call('upsample_nearest1d.vec', x, [3], [2]), PtliteError)
  t.throws(() => call('__interpolate', x, 2, null, 'bilinear'), PtliteError)
  t.end()
})

t.test('sampling a grid made by the identity gives the image back', (t) => {
  const image = tensor(
    Float32Array.from({ length: 12 }, (_, i) => i * i),
    [1, 1, 3, 4],
  )
  const theta = tensor(Float32Array.of(1, 0, 0, 0, 1, 0), [1, 2, 3])
  for (const align of [false, true]) {
    const grid = call('affine_grid_generator', theta, [1, 1, 3, 4], align)
    for (const mode of [0, 1, 2]) {
      const got = numbers(call('grid_sampler', image, grid, mode, 0, align))
      t.ok(got.every((x, i) => Math.abs(x - i * i) < 1e-3), `mode ${mode}, align_corners ${align}`) // prettier-ignore
    }
  }
  t.end()
})

t.test('windows to columns and back count each element once per window', (t) => {
  const image = tensor(new Float32Array(16).fill(1), [1, 1, 4, 4])
  const columns = call('im2col', image, [3, 3], [1, 1], [0, 0], [1, 1]) as Tensor
  t.strictSame(columns.shape, [1, 9, 4])
  t.strictSame(numbers(call('col2im', columns, [4, 4], [3, 3], [1, 1], [0, 0], [1, 1])).slice(0, 8), [1, 2, 2, 1, 2, 4, 4, 2])
  t.end()
})

t.test('windows of bools', (t) => {
  const image = tensor([1, 0, 0, 1, 1, 0, 0, 0, 0], [1, 1, 3, 3]).to('bool')
  const columns = call('im2col', image, [2, 2], [1, 1], [0, 0], [1, 1]) as Tensor
  t.strictSame([columns.dtype, columns.shape, numbers(columns)], ['bool', [1, 4, 4], [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0]])
  const back = call('col2im', columns, [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]) as Tensor
  t.strictSame([back.dtype, numbers(back)], ['bool', numbers(image)])
  t.end()
})

t.test('the spectrum of a cosine is one line, for smooth and prime lengths', (t) => {
  for (const n of [8, 12, 13, 30]) {
    const wave = tensor(Float32Array.from({ length: n }, (_, i) => Math.cos((2 * Math.PI * 2 * i) / n)))
    const spectrum = numbers(call('stft', wave, n, n, null, null, false, true, false))
    const size = Array.from({ length: spectrum.length / 2 }, (_, k) => Math.hypot(spectrum[2 * k]!, spectrum[2 * k + 1]!))
    t.ok(size.every((x, k) => Math.abs(x - (k === 2 ? n / 2 : 0)) < 1e-4), `${n} samples`) // prettier-ignore
  }
  t.end()
})

atEveryLevel(t, import.meta.url)
