import t from 'tap'
import { callOperator, int, Tensor, tensor } from '../../src/index.js'

/** Quantized kernels against integer arithmetic written out. */

let seed = 7
function random(below: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
  return (seed >> 8) % below
}

function activations(shape: number[], scale: number, zeroPoint: number): Tensor {
  const n = shape.reduce((a, b) => a * b, 1)
  return Tensor.fromStorage(
    Uint8Array.from({ length: n }, () => random(256)),
    { dtype: 'quint8', shape, quant: { scale, zeroPoint } },
  )
}

function weights(shape: number[], scales: number[]): Tensor {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = Int8Array.from({ length: n }, () => random(256) - 128)
  return Tensor.fromStorage(data, { dtype: 'qint8', shape, quant: { axis: 0, scales, zeroPoints: scales.map(() => 0) } })
}

const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high)
/** Largest difference of two lists of integers. */
const apart = (a: ArrayLike<number | bigint>, b: readonly number[]): number => Math.max(0, ...b.map((x, i) => Math.abs(x - Number(a[i]))))

t.test('linear: exact sums, requantized per channel, tails of every size', async (t) => {
  for (const [m, n, k] of [
    [1, 1, 1],
    [3, 17, 5],
    [13, 33, 64],
    [25, 40, 31],
  ] as const) {
    const x = activations([m, k], 0.05, 120)
    const scales = Array.from({ length: n }, (_, i) => 0.002 + 0.0001 * i)
    const w = weights([n, k], scales)
    const bias = Float32Array.from({ length: n }, () => random(100) / 50 - 1)
    const packed = callOperator('quantized::linear_prepack', [w, tensor(bias)])
    const got = (callOperator('quantized::linear', [x, packed as never, 0.4, int(100)]) as Tensor).data()
    const [xs, ws] = [x.data(), w.data()]
    const want: number[] = []
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = Math.round(bias[j]! / (0.05 * scales[j]!))
        for (let q = 0; q < k; q++) sum += (Number(xs[i * k + q]) - 120) * Number(ws[j * k + q])
        want.push(clamp(Math.round((sum * 0.05 * scales[j]!) / 0.4) + 100, 0, 255))
      }
    }
    t.ok(apart(got as Uint8Array, want) <= 1, `${m}x${k} by ${k}x${n}`)
  }
})

t.test('linear between floats: the input takes the given parameters, the result none', (t) => {
  const x = tensor([0.52, -0.3, 30, -30, 0.1, 0.049], [2, 3], 'float32')
  const w = weights([4, 3], [0.02, 0.01, 0.03, 0.005])
  const packed = callOperator('quantized::linear_prepack', [w, tensor([1, -1, 0, 0.5], [4], 'float32')]) as never
  const rounded = callOperator('aten::fake_quantize_per_tensor_affine', [x, 0.1, int(100), int(0), int(255)])
  const want = callOperator('aten::linear', [rounded, callOperator('aten::dequantize.self', [w]), tensor([1, -1, 0, 0.5], [4], 'float32')])
  const operator = (relu: string): string => `quantized::linear_with_input_q_dq_qweight_dq_${relu}output_fp32`
  for (const [name, expected] of [
    [operator(''), want],
    [operator('relu_'), callOperator('aten::relu', [want])],
  ] as const) {
    const got = (callOperator(name, [x, 0.1, int(100), packed]) as Tensor).data() as Float32Array
    const numbers = (expected as Tensor).data() as Float32Array
    t.ok(got.every((value, i) => Math.abs(value - numbers[i]!) < 1e-4), name) // prettier-ignore
  }
  t.throws(() => callOperator(operator(''), [x, 0.1, int(256), packed]), { name: 'PtliteError' })
  t.throws(() => callOperator(operator(''), [callOperator('aten::to.dtype', [x, 'float16']), 0.1, int(1), packed]), { name: 'PtliteError' })
  t.end()
})

t.test('conv2d: strides, padding, groups and depthwise', async (t) => {
  for (const [channels, out, groups, stride, padding, relu] of [
    [3, 5, 1, 2, 1, false],
    [4, 6, 2, 1, 0, true],
    [8, 8, 8, 1, 1, false],
  ] as const) {
    const [h, w, kernel] = [7, 6, 3]
    const x = activations([2, channels, h, w], 0.03, 10)
    const inner = channels / groups
    const filter = weights([out, inner, kernel, kernel], new Array<number>(out).fill(0.01))
    const lists = [
      [stride, stride],
      [padding, padding],
      [1, 1],
    ]
    const packed = callOperator('quantized::conv2d_prepack', [filter, null, ...lists, int(groups)])
    const name = relu ? 'quantized::conv2d_relu.new' : 'quantized::conv2d.new'
    const y = callOperator(name, [x, packed as never, 0.1, int(60)]) as Tensor
    const [, , oh, ow] = y.shape as [number, number, number, number]
    const [xs, fs] = [x.data(), filter.data()]
    const want: number[] = []
    for (let n = 0; n < 2; n++)
      for (let o = 0; o < out; o++)
        for (let i = 0; i < oh; i++)
          for (let j = 0; j < ow; j++) {
            let sum = 0
            for (let c = 0; c < inner; c++)
              for (let a = 0; a < kernel; a++)
                for (let b = 0; b < kernel; b++) {
                  const [r, s] = [i * stride - padding + a, j * stride - padding + b]
                  if (r < 0 || r >= h || s < 0 || s >= w) continue
                  const channel = Math.floor(o / (out / groups)) * inner + c
                  sum +=
                    (Number(xs[((n * channels + channel) * h + r) * w + s]) - 10) * Number(fs[((o * inner + c) * kernel + a) * kernel + b])
                }
            want.push(clamp(Math.round((sum * 0.03 * 0.01) / 0.1) + 60, relu ? 60 : 0, 255))
          }
    t.ok(apart(y.data() as Uint8Array, want) <= 1, `${channels} to ${out} channels in ${groups} groups`)
  }
})

t.test('add and mul of integers', async (t) => {
  const a = activations([4, 9], 0.02, 100)
  const b = activations([9], 0.05, 30)
  const [as, bs] = [a.data(), b.data()]
  const real = (f: (x: number, y: number) => number): number[] =>
    Array.from(as as Uint8Array, (x, i) =>
      clamp(Math.round(f((Number(x) - 100) * 0.02, (Number(bs[i % 9]) - 30) * 0.05) / 0.1) + 50, 0, 255),
    )
  t.ok(
    apart(
      (callOperator('quantized::add', [a, b, 0.1, int(50)]) as Tensor).data() as Uint8Array,
      real((x, y) => x + y),
    ) <= 1,
  )
  t.ok(
    apart(
      (callOperator('quantized::mul', [a, b, 0.1, int(50)]) as Tensor).data() as Uint8Array,
      real((x, y) => x * y),
    ) <= 1,
  )
})

t.test('operands are broadcast where they lie; the layout is that of PyTorch', (t) => {
  const last = (x: Tensor): Tensor => callOperator('aten::contiguous', [x, 'channels_last']) as Tensor
  const pooled = (x: Tensor): Tensor => callOperator('aten::adaptive_avg_pool2d', [x, [1, 1]]) as Tensor
  const [rows, channels] = [
    [1512, 72, 8, 1],
    [1512, 1, 168, 21],
  ]
  const image = activations([2, 21, 9, 8], 0.03, 100)
  const gates = pooled(last(image))
  t.strictSame(gates.strides, [21, 1, 21, 21])
  const operands = { image, 'channels last': last(image), gates, numbers: activations([2, 21, 1, 1], 0.02, 5) }
  const single = { channel: activations([21, 1, 1], 0.02, 130), row: activations([8], 0.01, 3), one: activations([1], 0.1, 9) }
  const rank = { plane: activations([2, 1, 9, 8], 0.02, 200), column: activations([1, 21, 9, 1], 0.02, 0) }
  const all: [string, Tensor][] = Object.entries({ ...operands, ...single, ...rank })
  const full = (x: Tensor): Tensor => callOperator('aten::contiguous', [callOperator('aten::expand', [x, image.shape, false])]) as Tensor
  for (const [first, a] of all) {
    for (const [second, b] of all) {
      const isImage = [first, second].some((name) => name === 'image' || name === 'channels last')
      for (const op of ['add', 'mul', 'add_relu', 'mul_relu']) {
        if (!isImage) continue
        const got = callOperator(`quantized::${op}`, [a, b, 0.1, int(50)]) as Tensor
        const want = callOperator(`quantized::${op}`, [full(a), full(b), 0.1, int(50)]) as Tensor
        t.strictSame(got.data(), want.data(), `${op} of ${first} and ${second}`)
        // PyTorch 1.13 and 2.13
        const isSum = op.startsWith('add') && first !== 'image' && first !== 'channels last'
        const leads = isSum && first !== 'column' ? second : first
        t.strictSame(
          got.strides,
          leads === 'channels last' || leads === 'gates' ? channels : rows,
          `strides of ${op} of ${first} and ${second}`,
        )
      }
    }
  }
  t.end()
})

t.test('batch norm: the integers and the layout of PyTorch 1.13 and 2.13', (t) => {
  const want = {
    quint8: [0, 0, 0, 39, 83, 126, 0, 59, 43, 28, 13, 0, 100, 144, 0, 0, 0, 16, 199, 255, 255, 0, 0, 51],
    qint8: [-121, -78, -34, 9, 53, 97, -22, 69, 54, 38, 23, 8, 71, 114, -128, -100, -57, -13, 127, 127, 127, -128, -78, -1],
  }
  const statistics = [tensor([1, -0.5, 2, 0.25]), tensor([0.5, 0, -1, 3]), tensor([0.1, -0.2, 0.3, -0.4]), tensor([0.5, 1, 2, 0.01])]
  for (const dtype of ['quint8', 'qint8'] as const) {
    const numbers = Array.from({ length: 24 }, (_, i) => ((37 * i) % 256) - (dtype === 'quint8' ? 0 : 128))
    const data = dtype === 'quint8' ? Uint8Array.from(numbers) : Int8Array.from(numbers)
    const quant = { scale: 0.05, zeroPoint: dtype === 'quint8' ? 100 : -3 }
    for (const [shape, suffix, strides] of [
      [[1, 4, 3, 2], '2d', [24, 1, 8, 4]],
      [[1, 4, 3, 2, 1], '3d', [24, 1, 8, 4, 4]],
      [[1, 4, 6], '1d', [24, 6, 1]],
    ] as const) {
      const x = Tensor.fromStorage(data, { dtype, shape, quant })
      for (const relu of ['', '_relu']) {
        const y = callOperator(`quantized::batch_norm${suffix}${relu}`, [x, ...statistics, 1e-5, 0.06, int(20)]) as Tensor
        const least = relu === '' ? -128 : 20
        t.strictSame(
          Array.from(y.data() as Int8Array),
          want[dtype].map((q) => Math.max(q, least)),
        )
        t.strictSame(y.strides, strides)
      }
    }
  }
  t.end()
})

t.test('what does not fit is refused', async (t) => {
  const x = activations([2, 3], 0.1, 0)
  const packed = callOperator('quantized::linear_prepack', [weights([4, 5], [1, 1, 1, 1]), null])
  t.throws(() => callOperator('quantized::linear', [x, packed as never, 0.1, int(0)]), { code: 'INVALID_ARGUMENT', message: /must be 5/ })
  t.throws(() => callOperator('quantized::linear', [tensor([1, 2, 3]), packed as never, 0.1, int(0)]), { code: 'INVALID_DTYPE' })
  t.throws(() => callOperator('aten::quantize_per_tensor', [tensor([1]), 0.1, int(300), 'quint8']), { code: 'INVALID_ARGUMENT' })
})
