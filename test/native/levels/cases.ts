import * as kernels from '../../../runtime/native/generated/kernels.js'
import { callOperator, float, imageToTensor, type Input, int, type Output, type Tensor, tensor, tensorToImage } from '../../../src/index.js'
import type { DTypeName } from '../../../src/index.js'
import { roundedLinear } from '../../../runtime/operators/support/rounded-weight.js'
import { type Rounding, Storage } from '../../../runtime/tensor/storage.js'
import { integerWeight, LAYOUTS, packIntegers } from '../../support/integer-weights.js'
import { integerMatrix, packedMatrices } from '../../support/packed-experts.js'
import { ROW_KINDS } from '../../support/products.js'
import { aten, type Draw } from './draw.js'

/**
 * How far a result may lie from DEFAULT's: `units` units in the last place of the type that the kernel computes in
 * (float32 for 16-bit floats, which may differ by one of their own besides) of the result or of `of`, whichever is larger.
 * Sums state in `of` what their terms can amount to. Integers, booleans and copies are exact.
 */
export interface Bound {
  readonly units: number
  readonly of?: number
  /** Of quantized integers that are rounded from float32 numbers: where one lies at a half, either neighbour is right. */
  readonly steps?: number
}

export interface Case {
  readonly name: string
  readonly bound: Bound
  readonly run: (d: Draw) => Output
}

const EXACT: Bound = { units: 0 }
/** One rounding more or less, as where a multiplication and an addition become one instruction. */
const ROUNDING: Bound = { units: 2, of: 4 }
/** Functions of 2 units each, in either direction, and what little is computed with them. */
const FUNCTION: Bound = { units: 8, of: 1 }
/** Some hundred terms of at most 1, added up in another order. */
const SUM: Bound = { units: 32, of: 16 }

const REALS = ['float32', 'float64', 'float16', 'bfloat16'] as const
const INTEGERS = ['int32', 'int64', 'int8', 'uint8', 'int16'] as const

/** What weights are rounded to. */
const ROUNDINGS = [
  ['bfloat16', { format: kernels.WeightFormat.bfloat16, group: 0, bytes: false }],
  ['bfloat16 by bfloat16', { format: kernels.WeightFormat.bfloat16, group: 0, bytes: true }],
  ['float16', { format: kernels.WeightFormat.float16, group: 0, bytes: false }],
  ...[0, 32].flatMap((group) =>
    [true, false].map((bytes) => [`int8, ${group}, ${bytes}`, { format: kernels.WeightFormat.int8, group, bytes }] as const),
  ),
  ...[true, false].map((bytes) => [`int4, ${bytes}`, { format: kernels.WeightFormat.int4, group: 32, bytes }] as const),
] as const

/** A weight [n, k], or the filter of a convolution, that is rounded when it is used, to what it is: integers of the format with 1 / 64 as their scale. */
function roundable(d: Draw, n: number, k: number, rounding: Rounding, sides: readonly number[] = []): Tensor {
  const [low, high, end] = rounding.format === kernels.WeightFormat.int4 ? [-7, 7, -8] : [-126, 126, 127]
  const taps = sides.reduce((product, side) => product * side, 1)
  const length = n * k * taps
  const data = Float32Array.from({ length }, (_, i) => ((Math.floor(i / taps) % k) % 32 === 0 ? end : d.integer(low, high)) / 64)
  const weight = tensor(data, [n, k, ...sides])
  weight.storage.rounding = rounding
  return weight
}

/** Input, filter, bias and settings of a convolution with a filter that is rounded to what it is. */
function roundedConvolution(d: Draw, rounding: Rounding): Input[] {
  const [n, channels, side] = [16 + d.length(), 32 + d.length(), d.of([1, 3])]
  const filter = roundable(d, n, channels, rounding, [side, side])
  const padding = d.of([0, (side - 1) / 2])
  return [d.dense([d.of([1, 2]), channels, 3 + d.length(), 4]), filter, d.dense([n]), [1, 1], [padding, padding], [1, 1], int(1)]
}

const row = (name: string, bound: Bound, run: Case['run']): Case => ({ name, bound, run })

/** An operator of one tensor, for each dtype. */
function unary(names: readonly string[], bound: Bound, low: number, high: number, dtypes: readonly DTypeName[], ...rest: Input[]): Case[] {
  return names.flatMap((name) =>
    dtypes.map((dtype) => row(`${name} ${dtype}`, bound, (d) => aten(name, d.tensor(d.shape(), { dtype, low, high }), ...rest))),
  )
}

/** An operator of two tensors of one shape, or of a scalar dimension. */
function binary(names: readonly string[], bound: Bound, low: number, high: number, dtypes: readonly DTypeName[], ...rest: Input[]): Case[] {
  return names.flatMap((name) =>
    dtypes.map((dtype) =>
      row(`${name} ${dtype}`, bound, (d) => {
        const shape = d.shape()
        const other = d.of([shape, shape, shape.slice(-1), []])
        return aten(name, d.tensor(shape, { dtype, low: -high, high }), d.tensor(other, { dtype, low, high }), ...rest)
      }),
    ),
  )
}

const view = (complex: Tensor): Tensor => aten('view_as_real', complex)

function image(d: Draw, dtype: DTypeName = 'float32', channels = 4): Tensor {
  return d.dense([2, channels, d.integer(5, 12), d.of([5, 8, 17, 20])], { dtype })
}

const SEED = 17
/** A new tensor filled in place from the generator. */
function drawn(name: string, dtype: DTypeName, ...rest: Input[]): Case {
  return row(`${name} ${dtype}`, FUNCTION, (d) => {
    callOperator('aten::manual_seed', [int(SEED)])
    return aten(name, d.dense([d.length() * 3], { dtype }), ...rest)
  })
}

function quantized(d: Draw, shape: number[], signed = false): Tensor {
  const x = d.dense(shape, { low: -3, high: 3 })
  return aten('quantize_per_tensor', x, float(0.05), int(signed ? 0 : 60), signed ? 'qint8' : 'quint8')
}

function cell(name: string, gates: number, states: number): Case {
  return row(name, FUNCTION, (d) => {
    const [batch, inputs, hidden] = [d.integer(1, 3), d.integer(1, 9), d.of([1, 4, 7, 16, 19])]
    const state = Array.from({ length: states }, () => d.dense([batch, hidden]))
    const weights = [inputs, hidden].map((n) => d.dense([gates * hidden, n]))
    const biases = weights.map(() => d.dense([gates * hidden]))
    return callOperator(`aten::${name}`, [d.dense([batch, inputs]), states > 1 ? state : state[0]!, ...weights, ...biases])
  })
}

function product(name: string, dtype: DTypeName, batch: readonly number[]): Case {
  return row(`${name} ${dtype}`, dtype.startsWith('int') ? EXACT : SUM, (d) => {
    const [m, n, k] = [d.length(), d.length(), d.length()]
    return aten(name, d.tensor([...batch, m, k], { dtype, low: -9, high: 9 }), d.tensor([...batch, k, n], { dtype }))
  })
}

function convolution(name: string, transposed: boolean, dtype: DTypeName): Case {
  return row(`${name} ${dtype}`, SUM, (d) => {
    const groups = d.of([1, 1, 2, 4])
    const outputs = groups * d.of([1, 3, 8])
    const weight = d.dense(transposed ? [4, outputs / groups, 3, 3] : [outputs, 4 / groups, 3, 3], { dtype })
    const bias = d.dense([outputs], { dtype })
    const [stride, padding] = [d.of([1, 1, 2]), d.of([0, 1])]
    const tail: Input[] = transposed ? [[0, 0], int(groups)] : [[1, 1], int(groups)]
    return aten(name, image(d, dtype), weight, bias, [stride, stride], [padding, padding], ...tail)
  })
}

/** A convolution over channels in blocks of 16. */
type BlockedRun = (d: Draw, x: Tensor, channels: number, tail: readonly Input[]) => Tensor

function blockedConvolution(name: string, run: BlockedRun, counts: readonly number[] = [3, 16, 24]): Case {
  return row(name, SUM, (d) => {
    const channels = d.of(counts)
    const x = callOperator('ptlite::to_blocked', [image(d, 'float32', channels)]) as Tensor
    const [stride, padding] = [d.of([1, 1, 2]), d.of([0, 1])]
    return run(d, x, channels, [[stride, stride], [padding, padding], [1, 1], float(-2), float(2)])
  })
}

/** Steps behind a float32 result of this shape: gelu(result) + operand, at 8 units for the function. */
function steps(d: Draw, shape: readonly number[]): Input[] {
  const { gelu_erf, add } = kernels.JitAlgorithm
  return [[d.dense(shape)], [int(gelu_erf), int(add)], [0, 0, 2, 1].map(int), [0, 0, 0, 0].map(float)]
}

const LIMITS = [float(-Infinity), float(Infinity)]

/** An operator on tensors in blocks with `steps` behind it, whose operand has the form of its result, or an element per channel. */
function withSteps(d: Draw, operator: string, args: readonly Input[]): Tensor {
  const { shape } = callOperator(operator, args) as Tensor
  return callOperator(operator, [...args, ...steps(d, d.of([shape, [shape[0]!, shape[1]!, 1, 1, 16]]))]) as Tensor
}

function blockedFilter(d: Draw, ...shape: readonly number[]): Tensor {
  return callOperator('ptlite::blocked_filter', [d.dense(shape)]) as Tensor
}

function quantizedConvolution(groups: number): Case {
  return row(`quantized::conv2d of ${groups} groups`, EXACT, (d) => {
    const weight = aten('quantize_per_tensor', d.dense([8, 8 / groups, 3, 3]), float(0.01), int(0), 'qint8')
    const lists = [
      [1, 1],
      [1, 1],
      [1, 1],
    ]
    const packed = callOperator('quantized::conv2d_prepack', [weight, d.dense([8]), ...lists, int(groups)])
    return callOperator('quantized::conv2d.new', [quantized(d, [1, 8, 7, d.of([5, 9, 18])]), packed as Input, 0.1, int(30)])
  })
}

/** Odd sizes, strides and dilations, weights with and without zero points; `depthwise`: one filter per channel. */
function oddQuantizedConvolution(depthwise: boolean): Case {
  return row(depthwise ? 'depthwise quantized::conv2d' : 'quantized::conv2d', EXACT, (d) => {
    const channels = depthwise ? d.of([2, 15, 16, 33, 64, 70, 130]) : d.of([1, 3, 4, 30, 32])
    const outputs = depthwise ? channels : d.of([1, 16, 17, 40, 70])
    const kernel = [d.integer(1, 3), d.of([1, 2, 3, 5])] as const
    const zeroPoint = int(d.of([0, 0, 3, -60]))
    const weight = aten('quantize_per_tensor', d.dense([outputs, depthwise ? 1 : channels, ...kernel]), float(0.01), zeroPoint, 'qint8')
    const lists = [
      [d.integer(1, 2), d.integer(1, 3)],
      [d.integer(0, 2), d.integer(0, 4)],
      [1, d.integer(1, 2)],
    ]
    const packed = callOperator('quantized::conv2d_prepack', [weight, d.dense([outputs]), ...lists, int(depthwise ? channels : 1)])
    const x = quantized(d, [d.integer(1, 2), channels, d.of([5, 9]), d.of([9, 18, 31])], d.of([false, false, true]))
    return callOperator(d.of(['quantized::conv2d.new', 'quantized::conv2d_relu.new']), [x, packed as Input, 0.1, int(30)])
  })
}

/** 4-bit tables only come from files, so the kernel is called by its frame. */
const nibbles = row('4-bit rows', ROUNDING, (d) => {
  const bytes = d.length()
  const [table, out] = [d.dense([bytes], { dtype: 'uint8', low: 0, high: 255 }), d.dense([2 * bytes])]
  kernels.dequantize_nibbles({ n: 2 * bytes - d.integer(0, 1), zero_point: 7, scale: 0.25, in: table.address, out: out.address })
  return out
})

/** What runs each kernel that is compiled for several levels. Every case must launch the kernel that it stands under. */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  fourier: (['float32', 'float64'] as const).flatMap((dtype) => [
    row(`fft_rfft ${dtype}`, SUM, (d) => view(aten('fft_rfft', d.dense([d.of([1, 3, 11]), d.of([1, 12, 15, 22, 49])], { dtype })))),
    row(`fft_fft ${dtype}`, SUM, (d) => view(aten('fft_fft2', d.dense([d.of([2, 5]), d.of([8, 14, 33])], { dtype })))),
    row(`fft_irfft ${dtype}`, ROUNDING, (d) => aten('fft_irfft', d.dense([d.of([1, 3, 11]), d.of([5, 8])], { dtype }))),
  ]),
  short_time_fourier: [
    row('stft', SUM, (d) => {
      const [n, window] = [d.of([6, 16]), d.dense([6])]
      return aten('stft', d.dense([2, 40]), int(n), int(d.of([3, 8])), int(6), window, false, true, false)
    }),
  ],
  unary: [
    ...unary(['abs', 'neg', 'floor', 'ceil', 'trunc', 'round', 'sign', 'frac'], EXACT, -20, 20, REALS),
    ...unary(['exp', 'expm1', 'tanh', 'erf', 'erfc', 'sigmoid', 'sin', 'cos', 'atan', 'sinh', 'exp2', 'square'], FUNCTION, -5, 5, REALS),
    ...unary(['log', 'log2', 'log10', 'log1p', 'sqrt', 'rsqrt', 'reciprocal'], FUNCTION, 0.01, 50, REALS),
    ...unary(['neg', 'abs', 'square', 'bitwise_not', 'sign'], EXACT, -100, 100, ['int32', 'int64', 'int8', 'int16']),
  ],
  activation: [
    ...unary(['relu', 'hardtanh'], EXACT, -8, 8, REALS),
    ...unary(['silu', 'mish', 'hardswish', 'hardsigmoid', 'softplus', 'elu', 'leaky_relu', 'log_sigmoid', 'gelu'], FUNCTION, -8, 8, REALS),
    ...unary(['clamp'], EXACT, -50, 50, [...REALS, ...INTEGERS], int(-3), int(20)),
  ],
  special: [
    ...unary(
      ['lgamma', 'digamma', 'i0', 'special_i1e', 'special_entr', 'special_ndtr', 'special_bessel_j0'],
      { units: 16, of: 4 },
      0.1,
      6,
      ['float32', 'float64'],
    ),
    ...unary(['erfinv', 'special_erfcx'], { units: 16, of: 1 }, -0.9, 0.9, ['float32', 'float64']),
  ],
  binary: [
    ...binary(['add.Tensor', 'sub.Tensor', 'mul.Tensor'], ROUNDING, -3, 3, REALS),
    ...binary(['div.Tensor'], ROUNDING, 0.5, 3, REALS),
    ...binary(['maximum', 'minimum', 'lt.Tensor', 'eq.Tensor', 'fmax', 'copysign.Tensor'], EXACT, -2, 2, REALS),
    ...binary(['atan2', 'hypot', 'pow.Tensor_Tensor'], { units: 16, of: 4 }, 0.5, 3, ['float32', 'float64']),
    ...binary(['fmod.Tensor', 'remainder.Tensor'], EXACT, 1, 9, ['int32', 'int64']),
    ...binary(
      ['add.Tensor', 'sub.Tensor', 'mul.Tensor', 'bitwise_and.Tensor', 'bitwise_xor.Tensor', 'maximum', 'lt.Tensor'],
      EXACT,
      1,
      90,
      INTEGERS.filter((d) => d !== 'uint8'),
    ),
  ],
  ternary: [
    ...REALS.map((dtype) =>
      row(`addcmul ${dtype}`, ROUNDING, (d) => {
        const shape = d.shape()
        return aten('addcmul', d.tensor(shape, { dtype }), d.tensor(shape, { dtype }), d.tensor(shape, { dtype }))
      }),
    ),
    ...[...REALS, ...INTEGERS].map((dtype) =>
      row(`where ${dtype}`, EXACT, (d) => {
        const shape = d.shape()
        const [a, b] = [0, 1].map(() => d.tensor(shape, { dtype, low: 0, high: 90 }))
        return aten('where.self', aten('gt.Scalar', d.tensor(shape), float(0)), a, b)
      }),
    ),
    row('lerp', ROUNDING, (d) => {
      const shape = d.shape()
      return aten('lerp.Tensor', d.tensor(shape), d.tensor(shape), d.tensor(shape, { low: 0 }))
    }),
  ],
  copy: [...REALS, ...INTEGERS, 'bool' as const].flatMap((from) =>
    [...REALS, ...INTEGERS, 'bool' as const]
      .filter((to) => to !== from)
      .map((to) => row(`${from} to ${to}`, EXACT, (d) => aten('to.dtype', d.tensor(d.shape(), { dtype: from, low: 0, high: 120 }), to))),
  ),
  fill: [...REALS, ...INTEGERS].map((dtype) =>
    row(`fill_ ${dtype}`, EXACT, (d) => aten('fill_.Scalar', d.tensor(d.shape(), { dtype, low: 0 }), int(7))),
  ),
  gemm: [
    ...(['float32', 'float64', 'int32', 'int64'] as const).flatMap((dtype) => [product('mm', dtype, []), product('bmm', dtype, [2])]),
    row('addmm', SUM, (d) => {
      const [m, n, k] = [d.length(), d.length(), d.length()]
      return aten('addmm', d.tensor([m, n]), d.tensor([m, k]), d.tensor([k, n]), float(0.5), float(2))
    }),
  ],
  grouped_gemm: [
    row('_grouped_mm, rows', SUM, (d) => {
      const [m, n, k] = [d.length() + 3, d.length(), d.length()]
      return aten('_grouped_mm', d.tensor([m, k]), d.tensor([3, k, n]), tensor([1, 1, m - 1], [3], 'int32'))
    }),
    row('_grouped_mm, depth', SUM, (d) => {
      const [m, n, k] = [d.length(), d.length(), d.length() + 2]
      return aten('_grouped_mm', d.tensor([m, k]), d.tensor([k, n]), tensor([2, k], [2], 'int32'))
    }),
  ],
  bfloat16_gemm: [
    row('addmm bfloat16, sums of nothing', SUM, (d) => {
      const columns = callOperator('aten::as_strided', [d.dense([2], { dtype: 'bfloat16' }), [0, 10], [20, 2], int(1)]) as Tensor
      return aten('addmm', d.dense([5, 10], { dtype: 'bfloat16' }), d.dense([5, 0], { dtype: 'bfloat16' }), columns, float(0.5), float(2))
    }),
    product('bmm', 'bfloat16', [2]),
    product('mm', 'bfloat16', []),
  ],
  blocked_bottleneck: [
    row('blocked_bottleneck', SUM, (d) => {
      const [expand, each, project] = [blockedFilter(d, 40, 24, 1, 1), blockedFilter(d, 40, 1, 3, 3), blockedFilter(d, 20, 40, 1, 1)]
      const limits = [-1, 2, -Infinity, Infinity, 0, 6].map((limit) => float(limit))
      const gates = [d.of([0, 3]), d.of([0, 4]), d.of([0, 5])].map((gate) => int(gate))
      const tail = [int(d.of([1, 2])), int(1), gates, limits]
      return callOperator('ptlite::blocked_bottleneck', [
        d.dense([2, 2, 9, 30, 16]),
        expand,
        null,
        each,
        d.dense([48]),
        project,
        null,
        null,
        ...tail,
      ])
    }),
  ],
  blocked_conv: [
    blockedConvolution('blocked_convolution', (d, x, channels, tail) => {
      const filter = blockedFilter(d, 40, channels, 3, 3)
      return callOperator('ptlite::blocked_convolution', [x, filter, d.dense([48]), null, ...tail]) as Tensor
    }),
    ...(['bfloat16', 'float16'] as const).map((dtype) =>
      blockedConvolution(`blocked_convolution by ${dtype}`, (d, x, channels, tail) => {
        const filter = blockedFilter(d, 40, channels, 3, 3).to(dtype)
        return callOperator('ptlite::blocked_convolution', [x, filter, d.dense([48]), null, ...tail]) as Tensor
      }),
    ),
    row('blocked_convolution of volumes', SUM, (d) => {
      const filter = blockedFilter(d, 40, 24, 3, 3, 3)
      const settings = [d.of([1, 2]), d.of([0, 1]), 1].map((n) => [n, n, n])
      return callOperator('ptlite::blocked_convolution', [
        d.dense([2, 2, 4, 7, 9, 16]),
        filter,
        d.dense([48]),
        null,
        ...settings,
        ...LIMITS,
      ])
    }),
    ...[4, 8, 12].map((size) =>
      blockedConvolution(
        `blocked_grouped_convolution of ${size}`,
        (d, x, channels, tail) => {
          const groups = channels / size
          const filter = callOperator('ptlite::blocked_grouped_filter', [d.dense([channels, size, 3, 3]), int(groups)])
          const settings = [...tail.slice(0, 3), int(groups), int(size), int(size), ...tail.slice(3)]
          return callOperator('ptlite::blocked_grouped_convolution', [x, filter as Tensor, null, null, ...settings]) as Tensor
        },
        size === 12 ? [24, 48] : [16, 24],
      ),
    ),
  ],
  blocked_depthwise: [
    blockedConvolution('blocked_depthwise', (d, x, channels, tail) => {
      const filter = blockedFilter(d, channels, 1, 3, 3)
      return callOperator('ptlite::blocked_depthwise', [x, filter, null, ...tail]) as Tensor
    }),
  ],
  blocked_conv_post: [
    blockedConvolution('blocked_convolution_post', (d, x, channels, tail) => {
      const filter = blockedFilter(d, 40, channels, 3, 3)
      return withSteps(d, 'ptlite::blocked_convolution', [x, filter, d.dense([48]), null, ...tail])
    }),
  ],
  blocked_depthwise_post: [
    blockedConvolution('blocked_depthwise_post', (d, x, channels, tail) => {
      const filter = blockedFilter(d, channels, 1, 3, 3)
      return withSteps(d, 'ptlite::blocked_depthwise', [x, filter, null, ...tail])
    }),
  ],
  blocked_mean: [row('blocked_mean', SUM, (d) => callOperator('ptlite::blocked_mean', [d.dense([2, 2, 5, 7, 16]), int(d.of([24, 32]))]))],
  blocked_gates: [
    row('blocked_gates', SUM, (d) => {
      const channels = d.of([24, 32])
      const [squeeze, excite] = [blockedFilter(d, 20, channels, 1, 1), blockedFilter(d, channels, 20, 1, 1)]
      const x = d.dense([2, 2, 5, 7, 16])
      return callOperator('ptlite::blocked_gates', [
        x,
        int(channels),
        squeeze,
        d.dense([32]),
        excite,
        null,
        int(d.of([1, 3, 4])),
        int(d.of([5, 6])),
      ])
    }),
  ],
  blocked_scaled_filter: [
    row('blocked_scaled_filter', EXACT, (d) => {
      const channels = d.of([24, 32])
      return callOperator('ptlite::blocked_scaled_filter', [blockedFilter(d, 40, channels, 1, 1), d.dense([1, 2, 1, 1, 16])])
    }),
  ],
  blocked_pool: [
    row('blocked_max_pool', EXACT, (d) =>
      callOperator('ptlite::blocked_max_pool', [
        d.dense([2, 2, 9, d.of([5, 8])].concat(16)),
        [3, 3],
        [d.of([1, 2]), 2],
        [1, 1],
        [1, 1],
        false,
      ]),
    ),
    row('blocked_max_pool of volumes', EXACT, (d) =>
      callOperator('ptlite::blocked_max_pool', [
        d.dense([2, 2, 5, 9, 8, 16]),
        [2, 3, 3],
        [d.of([1, 2]), 2, 2],
        [1, 1, 1],
        [1, 1, 1],
        false,
      ]),
    ),
    row('blocked_avg_pool', ROUNDING, (d) =>
      callOperator('ptlite::blocked_avg_pool', [d.dense([2, 2, 9, 8, 16]), [3, 2], [d.of([1, 2]), 2], [1, 1], false, d.of([true, false])]),
    ),
  ],
  blocked_reorder: [
    row('to_blocked', EXACT, (d) => callOperator('ptlite::to_blocked', [image(d, 'float32', d.of([3, 16, 20]))])),
    row('from_blocked', EXACT, (d) =>
      callOperator('ptlite::from_blocked', [d.dense([2, 2, 3, d.of([5, 8, 17]), 16]), int(d.of([20, 32]))]),
    ),
  ],
  winograd_blocked_filter: (['bfloat16', 'float16'] as const).map((dtype) =>
    row(`winograd_blocked_filter ${dtype}`, { units: 16, of: 1 }, (d) => {
      const filter = blockedFilter(
        d,
        40,
        d.integer(1, 20),
        ...d.of([
          [3, 3],
          [2, 3, 3],
        ]),
      )
      return callOperator('ptlite::winograd_blocked_filter', [filter.to(dtype)]) as Tensor
    }),
  ),
  winograd_conv: [
    row('winograd_convolution of volumes', { units: 128, of: 16 }, (d) => {
      const filter = callOperator('ptlite::winograd_filter', [d.dense([40, 24, 3, 3, 3])]) as Tensor
      const padding = [d.of([0, 1]), 1, 1]
      return callOperator('ptlite::winograd_convolution', [d.dense([2, 2, 4, 7, 9, 16]), filter, d.dense([48]), null, padding, ...LIMITS])
    }),
    row('winograd_convolution', { units: 128, of: 16 }, (d) => {
      const channels = d.of([3, 16, 24])
      const x = callOperator('ptlite::to_blocked', [image(d, 'float32', channels)]) as Tensor
      const filter = callOperator('ptlite::winograd_filter', [d.dense([40, channels, 3, 3])]) as Tensor
      const padding = d.of([0, 1])
      return callOperator('ptlite::winograd_convolution', [x, filter, d.dense([48]), null, [padding, padding], float(-9), float(9)])
    }),
  ],
  winograd_conv_post: [
    row('winograd_convolution_post', { units: 128, of: 16 }, (d) => {
      const x = callOperator('ptlite::to_blocked', [image(d, 'float32', 24)]) as Tensor
      const filter = callOperator('ptlite::winograd_filter', [d.dense([40, 24, 3, 3])]) as Tensor
      return withSteps(d, 'ptlite::winograd_convolution', [x, filter, d.dense([48]), null, [1, 1], ...LIMITS])
    }),
  ],
  bfloat16_conv: [convolution('conv2d', false, 'bfloat16')],
  linear: (['float32', 'float64'] as const).map((dtype) =>
    row(`linear ${dtype}`, SUM, (d) => {
      const [n, k] = [d.length(), d.length()]
      return aten('linear', d.dense([d.of([1, 2, 5, 9, 14]), k], { dtype }), d.dense([n, k], { dtype }), d.dense([n], { dtype }))
    }),
  ),
  linear_post: [
    row('linear_post', SUM, (d) => {
      const [m, n, k] = [d.of([1, 2, 5, 9, 14]), d.length(), d.length()]
      const layer = [d.dense([m, k]), d.dense([n, k]), d.dense([n]), ...LIMITS]
      return callOperator('ptlite::linear', [...layer, ...steps(d, d.of([[m, n], [n], [m, 1]]))])
    }),
  ],
  gemm_post: [
    row('matmul_post', SUM, (d) => {
      const [m, n, k] = [d.length(), d.length(), d.length()]
      return callOperator('ptlite::matmul', [d.dense([2, m, k]), d.dense([2, k, n]), ...steps(d, d.of([[2, m, n], [m, n], [n]]))])
    }),
  ],
  conv_post: [
    row('convolution_post', SUM, (d) => {
      const x = image(d)
      const [h, w] = x.shape.slice(2) as [number, number]
      const groups = d.of([1, 2, 4])
      const layer = [x, d.dense([8, 4 / groups, 3, 3]), d.dense([8]), [1, 1], [1, 1], [1, 1], int(groups), ...LIMITS]
      return callOperator('ptlite::convolution', [
        ...layer,
        ...steps(
          d,
          d.of([
            [2, 8, h, w],
            [8, 1, 1],
            [2, 8, 1, 1],
          ]),
        ),
      ])
    }),
  ],
  gemm_pack: [
    row('linear with a weight that stays', SUM, (d) => {
      const [n, k] = [d.length(), d.length()]
      const [x, weight] = [d.dense([d.of([5, 9, 14, 15]), k]), d.dense([n, k])]
      weight.pinned = true
      return [aten('linear', x, weight), aten('linear', x, weight)]
    }),
  ],
  weight_pack: ROUNDINGS.map(([name, rounding]) =>
    row(`embedding of ${name}`, EXACT, (d) => {
      const n = 16 + d.length()
      return aten('embedding', roundable(d, n, 32 + d.length(), rounding), d.dense([9], { dtype: 'int64', low: 0, high: n - 1 }))
    }),
  ),
  weight_pack_integers: LAYOUTS.map((layout) =>
    row(layout.name, SUM, (d) => {
      const [m, n, k] = [d.of([1, 2, 5, 9, 23]), 16 + d.length(), 32 + d.length()]
      const storages: Storage[] = []
      const take = (bytes: number): number => storages[storages.push(Storage.allocate(bytes)) - 1]!.address
      const place = (data: Uint8Array): number => storages[storages.push(Storage.holding(data)) - 1]!.address
      const weight = integerWeight(layout, n, k, (low, high) => d.integer(low, high))
      const address = packIntegers(layout, weight, { place, take }, (call) => call())
      const x = d.dense([m, k])
      const held = { ...layout, n, k, address }
      const results = [
        ...[false, true].map((bytes) => roundedLinear(x, { ...held, bytes }, null, null)),
        ...ROW_KINDS.map((kind) =>
          roundedLinear(x, { ...held, bytes: false, rows: { kind: kernels.RowBytes[kind], least: -128, eps: 1e-6 } }, null, null),
        ),
      ]
      for (const storage of storages) storage.free()
      return results
    }),
  ),
  packed_linear: ROUNDINGS.map(([name, rounding]) =>
    row(`linear of ${name}`, SUM, (d) => {
      const [n, k] = [16 + d.length(), 32 + d.length()]
      return aten('linear', d.dense([d.of([1, 2, 5, 9, 23, 40]), k]), roundable(d, n, k, rounding), d.dense([n]))
    }),
  ),
  packed_linear_post: ROUNDINGS.map(([name, rounding]) =>
    row(`linear of ${name}, post-ops`, SUM, (d) => {
      const [m, n, k] = [d.of([1, 2, 5, 9, 23, 40]), 16 + d.length(), 32 + d.length()]
      const layer = [d.dense([m, k]), roundable(d, n, k, rounding), d.dense([n]), ...LIMITS]
      return callOperator('ptlite::linear', [...layer, ...steps(d, d.of([[m, n], [n], [m, 1]]))])
    }),
  ),
  packed_conv: ROUNDINGS.map(([name, rounding]) =>
    row(`convolution of ${name}`, SUM, (d) => aten('conv2d', ...roundedConvolution(d, rounding))),
  ),
  packed_conv_post: ROUNDINGS.map(([name, rounding]) =>
    row(`convolution of ${name}, post-ops`, SUM, (d) => {
      const layer = roundedConvolution(d, rounding)
      const [x, filter, , , padding] = layer as [Tensor, Tensor, Tensor, number[], number[]]
      const sizes = [2, 3].map((i) => x.shape[i]! + 2 * padding[i - 2]! - filter.shape[i]! + 1)
      const [n] = filter.shape as [number]
      const block = steps(d, d.of([[x.shape[0]!, n, ...sizes], [n, 1, 1], sizes]))
      return callOperator('ptlite::convolution', [...layer, ...LIMITS, ...block])
    }),
  ),
  conv: [convolution('conv2d', false, 'float32'), convolution('conv2d', false, 'float64')],
  conv_transpose: [convolution('conv_transpose2d.input', true, 'float32'), convolution('conv_transpose2d.input', true, 'float64')],
  batch_norm: [
    row('batch_norm', FUNCTION, (d) => {
      const channel = (low: number): Tensor => d.dense([4], { low, high: 2 })
      return aten('batch_norm', image(d), channel(-1), channel(-1), channel(-1), channel(0.5), false, float(0.1), float(1e-5), false)
    }),
  ],
  batch_norm_stats: [
    row('batch_norm of a batch', SUM, (d) =>
      aten('batch_norm', image(d), d.dense([4]), d.dense([4]), null, null, true, float(0.1), float(1e-5), false),
    ),
  ],
  layer_norm: REALS.map((dtype) =>
    row(`layer_norm ${dtype}`, SUM, (d) => {
      const n = d.length() + 4
      return aten('layer_norm', d.tensor([3, n], { dtype }), [n], d.dense([n], { dtype }), d.dense([n], { dtype }))
    }),
  ),
  rms_norm: REALS.map((dtype) =>
    row(`rms_norm ${dtype}`, SUM, (d) => {
      const n = d.length() + 4
      return aten('rms_norm', d.tensor([3, n], { dtype }), [n], d.of([null, d.dense([n], { dtype })]), float(0.1))
    }),
  ),
  group_norm: [row('group_norm', SUM, (d) => aten('group_norm', image(d), int(2), d.dense([4]), d.dense([4])))],
  softmax: ['softmax.int', 'log_softmax.int'].flatMap((name) =>
    REALS.map((dtype) =>
      row(`${name} ${dtype}`, FUNCTION, (d) => aten(name, d.tensor([3, d.length(), 4], { dtype, low: -9, high: 9 }), int(d.integer(0, 2)))),
    ),
  ),
  attention: [
    row('ptlite::attention', SUM, (d) => {
      const [queries, keys, depth] = [d.length(), d.length(), d.integer(1, 20)]
      const [q, k, v] = [4, 2, 2].map((heads, i) => d.dense([2, heads, i === 0 ? queries : keys, depth]))
      const mask = d.of([null, d.dense([queries, keys]), d.dense([1, keys]), d.tensor([queries, keys], { dtype: 'bool' })])
      const [causal, rowsFirst] = [mask === null && d.of([true, false]), d.of([true, false])]
      return callOperator('ptlite::attention', [q!, k!, v!, mask, float(0.5), causal, true, rowsFirst, null, null])
    }),
    row('ptlite::attention of integers', SUM, (d) => {
      const [queries, keys, depth] = [d.length(), d.length(), d.integer(1, 20)]
      const q = d.dense([2, 4, queries, depth])
      const [k, v] = [0, 1].map(() => d.tensor([2, 2, keys, depth], { dtype: 'int8', low: -127, high: 127 }))
      const [keyScales, valueScales] = [0, 1].map(() => d.tensor([2, 2, keys, 1], { low: 0.001, high: 0.02 }))
      return callOperator('ptlite::attention', [
        q,
        k!,
        v!,
        null,
        float(0.5),
        d.of([true, false]),
        true,
        d.of([true, false]),
        keyScales!,
        valueScales!,
      ])
    }),
    row('scaled_dot_product_attention of several tiles', SUM, (d) => {
      const [q, k, v] = [70, 500, 500].map((rows) => d.dense([1, 2, rows, 16]))
      return aten('scaled_dot_product_attention', q!, k!, v!, null, float(0), d.of([true, false]))
    }),
  ],
  rotary: [
    row('ptlite::rotary', ROUNDING, (d) => {
      const [rotated, rest] = [2 * d.length(), d.integer(0, 20)]
      const angles = d.of([rotated, rotated / 2])
      const x = d.tensor([2, 3, rotated + rest])
      const [cos, sin] = [d.dense([3, angles]), d.dense([3, angles])]
      return callOperator('ptlite::rotary', [x, cos, sin, int(rotated), d.of([true, false]), [3 * x.shape[2]!, x.shape[2]!, 1]])
    }),
  ],
  pool: [
    row('max_pool2d', EXACT, (d) => aten('max_pool2d', image(d), [3, 3], [d.of([1, 2]), 2], [1, 1])),
    row('avg_pool2d', ROUNDING, (d) => aten('avg_pool2d', image(d), [3, 2], [d.of([1, 2]), 2], [1, 1])),
    row('adaptive_avg_pool2d', SUM, (d) => aten('adaptive_avg_pool2d', image(d), [3, 2])),
  ],
  image_to_planes: [
    row('imageToTensor', EXACT, (d) => {
      const [width, height, channels] = [d.integer(1, 90), d.integer(1, 60), d.integer(1, 4)]
      const data = d.dense([width * height * channels], { dtype: 'uint8', low: 0, high: 255 }).data() as Uint8Array
      const filter = d.of(['nearest', 'bilinear', 'bicubic', 'lanczos'] as const)
      return imageToTensor(
        { data, width, height },
        { filter, resize: [d.integer(1, 50), d.integer(1, 70)], channels: d.of([1, 3] as const) },
      )
    }),
  ],
  planes_to_image: [
    row('tensorToImage', EXACT, (d) => {
      const { data } = tensorToImage(d.dense([d.of([1, 3]), 7, d.integer(1, 40)], { low: -0.2, high: 1.2 }), { alpha: d.of([true, false]) })
      return tensor(Uint8Array.from(data))
    }),
  ],
  sample_token: [
    row('draws of tokens', EXACT, (d) => {
      const filters = { top_k: d.of([0, 5, 40]), top_p: d.of([0.5, 0.9, 1]), min_p: d.of([0, 0.1]), typical_p: d.of([0.7, 1]) }
      const tokens = Array.from({ length: 8 }, () => {
        const logits = Float32Array.from(d.dense([d.integer(1, 300)], { low: -6, high: 6 }).data() as Float32Array)
        return kernels.sample_token(
          { count: logits.length, temperature: d.of([0, 0.7, 1]), ...filters, draw: d.integer(0, 99) / 100 },
          logits,
        )
      })
      return tensor(Int32Array.from(tokens))
    }),
  ],
  resample: [
    row('upsample_bilinear2d', FUNCTION, (d) =>
      aten('upsample_bilinear2d', image(d), [d.integer(3, 19), d.integer(3, 35)], d.of([true, false])),
    ),
    row('upsample_bicubic2d', SUM, (d) => aten('upsample_bicubic2d', image(d), [d.integer(3, 19), d.integer(3, 35)], false)),
    row('_upsample_lanczos2d_aa', FUNCTION, (d) => aten('_upsample_lanczos2d_aa', image(d), [d.integer(3, 19), d.integer(3, 35)], false)),
  ],
  grid_sample: [0, 2].map((mode) =>
    row(`grid_sampler of mode ${mode}`, { units: 64, of: 1 }, (d) =>
      aten('grid_sampler', image(d), d.dense([2, 4, d.length(), 2], { low: -0.9, high: 0.9 }), int(mode), int(0), false),
    ),
  ),
  reduce: [
    ...['sum.dim_IntList', 'mean.dim'].flatMap((name) =>
      REALS.map((dtype) => row(`${name} ${dtype}`, SUM, (d) => aten(name, d.tensor([3, d.length(), 4], { dtype }), [d.integer(0, 2)]))),
    ),
    ...[...REALS, ...INTEGERS].map((dtype) =>
      row(`amax ${dtype}`, EXACT, (d) => aten('amax', d.tensor([3, d.length(), 4], { dtype, low: 0, high: 100 }), [d.integer(0, 2)])),
    ),
    ...INTEGERS.map((dtype) => row(`sum ${dtype}`, EXACT, (d) => aten('sum', d.tensor(d.shape(), { dtype, low: 0, high: 100 })))),
    row('norm', SUM, (d) => aten('norm.ScalarOpt_dim', d.tensor([3, d.length(), 4]), float(2), [int(1)])),
    row('logsumexp', SUM, (d) => aten('logsumexp', d.tensor([3, d.length(), 4]), [int(1)])),
  ],
  reduce_arg: (['float32', 'float64', 'float16', 'int32', 'int64', 'uint8'] as const).map((dtype) =>
    row(`argmax ${dtype}`, EXACT, (d) => aten('argmax', d.tensor([3, d.length(), 4], { dtype, low: 0, high: 9 }), int(d.integer(0, 2)))),
  ),
  reduce_var: REALS.map((dtype) => row(`var ${dtype}`, SUM, (d) => aten('var.dim', d.tensor([3, d.length() + 1, 4], { dtype }), [int(1)]))),
  cdist: [1, 2, 3].map((p) =>
    row(`cdist of order ${p}`, { units: 8, of: 64 }, (d) => {
      const n = d.length()
      return aten('_cdist_forward', d.tensor([5, n]), d.tensor([4, n]), float(p), int(2))
    }),
  ),
  cross: [row('cross', ROUNDING, (d) => aten('cross', d.tensor([5, 3, 4]), d.tensor([5, 3, 4]), int(1)))],
  embedding_bag: [0, 1].map((mode) =>
    row(`embedding_bag of mode ${mode}`, SUM, (d) =>
      callOperator('aten::embedding_bag', [
        d.dense([9, d.length()]),
        d.dense([7], { dtype: 'int64', low: 0, high: 8 }),
        d.dense([1], { dtype: 'int64', low: 0, high: 0 }),
        false,
        int(mode),
      ]),
    ),
  ),
  recurrent_cell: [cell('lstm_cell', 4, 2), cell('gru_cell', 3, 1), cell('rnn_tanh_cell', 1, 1)],
  quantize: [row('quantize_per_tensor', EXACT, (d) => quantized(d, d.shape()))],
  quantize_channels_last: [
    row('quantize_channels_last', EXACT, (d) => {
      const x = d.dense([d.integer(1, 2), d.of([1, 2, 3, 4, 5, 17]), d.length()], { low: -9, high: 9 })
      return callOperator('ptlite::quantize_channels_last', [x, float(0.05), int(60), d.of(['quint8', 'qint8'])])
    }),
  ],
  dequantize: [row('dequantize', EXACT, (d) => aten('dequantize.self', quantized(d, d.shape())))],
  quantized_binary: ['add', 'mul'].map((name) =>
    row(`quantized::${name}`, EXACT, (d) => {
      const shape = d.shape()
      const other = d.of([shape, shape.map((n) => d.of([1, n]))])
      return callOperator(`quantized::${name}`, [quantized(d, shape), quantized(d, other), 0.1, int(50)])
    }),
  ),
  quantized_table: [
    row('ptlite::quantized_table', EXACT, (d) => {
      const x = quantized(d, [d.integer(1, 3000)], d.of([true, false]))
      const table = d.dense([256], { dtype: 'uint8', low: 0, high: 255 })
      return callOperator('ptlite::quantized_table', [x, table, [1], float(0.1), int(3), x.dtype])
    }),
  ],
  quantized_batch_norm: ['batch_norm', 'batch_norm_relu'].map((name) =>
    row(`quantized::${name}`, EXACT, (d) => {
      const channels = d.length()
      const vector = (low: number): Tensor => d.dense([channels], { low, high: 2 })
      const x = quantized(d, [d.integer(1, 2), channels, d.integer(1, 9), d.integer(1, 9)], d.of([true, false]))
      return callOperator(`quantized::${name}`, [x, vector(-2), vector(-2), vector(-2), vector(0.1), float(1e-5), float(0.03), int(7)])
    }),
  ),
  quantized_lookup: [
    row('sigmoid of quint8', EXACT, (d) => aten('sigmoid', quantized(d, d.shape()))),
    row('tanh of all bytes', EXACT, (d) =>
      aten(
        'tanh',
        aten('quantize_per_tensor', d.dense([d.integer(1, 3000)], { low: -13, high: 13 }), float(0.1), int(d.of([-3, 0])), 'qint8'),
      ),
    ),
  ],
  quantized_linear_dynamic: ['linear_dynamic', 'linear_relu_dynamic'].map((name) =>
    row(`quantized::${name}`, { units: 2 }, (d) => {
      const [rows, inputs, outputs] = [d.of([1, 3, 20]), d.length(), d.length()]
      const weight = aten('quantize_per_tensor', d.dense([outputs, inputs]), float(0.02), int(0), 'qint8')
      const packed = callOperator('quantized::linear_prepack', [weight, d.dense([outputs])])
      return callOperator(`quantized::${name}`, [d.dense([rows, inputs], { low: -9, high: 9 }), packed as Input, true])
    }),
  ),
  quantized_pool: ['max_pool2d', 'avg_pool2d'].map((name) =>
    row(`${name} of quint8`, EXACT, (d) =>
      aten(name, quantized(d, [1, d.of([3, 4, 17, 33]), 8, d.of([5, 9, 18])]), [3, 3], [2, 2], [1, 1]),
    ),
  ),
  quantized_bilinear: [
    row('upsample_bilinear2d of quint8', { units: 0, steps: 1 }, (d) =>
      aten('upsample_bilinear2d', quantized(d, [1, 3, 5, 7]), [d.integer(3, 19), d.integer(3, 35)], false),
    ),
  ],
  quantized_prelu: [
    row('prelu of quint8', EXACT, (d) =>
      aten('prelu', quantized(d, [2, 4, d.length()]), aten('quantize_per_tensor', d.dense([4]), float(0.01), int(50), 'quint8')),
    ),
  ],
  fake_quantize: [
    row('fake_quantize_per_channel_affine', { units: 2, of: 4 }, (d) => {
      const [rows, columns] = [d.integer(1, 4), d.length()]
      const zeros = d.dense([rows], { dtype: 'int32', low: 0, high: 15 })
      const scales = d.dense([rows], { low: 0.01, high: 0.2 })
      return callOperator('aten::fake_quantize_per_channel_affine_cachemask', [
        d.dense([rows, columns]),
        scales,
        zeros,
        int(0),
        int(0),
        int(15),
      ])
    }),
  ],
  int4_mm: (['float32', 'bfloat16', 'float16'] as const).map((dtype) =>
    row(`_weight_int4pack_mm_for_cpu ${dtype}`, SUM, (d) => {
      const [m, k, n] = [d.integer(1, 6), 32 * d.integer(1, 4), 16 * d.integer(1, 10)]
      const weight = aten('_convert_weight_to_int4pack_for_cpu', d.dense([n, k], { dtype: 'int32', low: 0, high: 15 }), int(2))
      const parameters = d.dense([k / 32, n, 2], { dtype, low: -0.1, high: 0.1 })
      return aten('_weight_int4pack_mm_for_cpu', d.dense([m, k], { dtype }), weight, int(32), parameters)
    }),
  ),
  int8_mm: (['float32', 'bfloat16', 'float16'] as const).map((dtype) =>
    row(`_weight_int8pack_mm ${dtype}`, SUM, (d) => {
      const [m, k, n] = [d.integer(1, 6), d.length(), d.length()]
      const weight = d.dense([n, k], { dtype: 'int8', low: -128, high: 127 })
      return aten('_weight_int8pack_mm', d.dense([m, k], { dtype }), weight, d.dense([n], { dtype, low: -0.01, high: 0.01 }))
    }),
  ),
  experts_ffn: ([4, 8] as const).map((bits) =>
    row(`quantized_moe_ffn, ${bits} bits`, SUM, (d) => {
      const [rows, depth, hidden, experts] = [d.integer(1, 6), 32 * d.integer(1, 3), 32 * d.integer(1, 3), d.integer(2, 5)]
      const packed = (outputs: number, inputs: number): Tensor => {
        const matrices = Array.from({ length: experts }, () =>
          integerMatrix(outputs, inputs, 32, bits, (low, high) => d.integer(low, high)),
        )
        const { data, shape } = packedMatrices(matrices)
        return tensor(data, shape)
      }
      const weights = [
        d.dense([experts, depth], { low: -0.2, high: 0.2 }),
        d.dense([experts]),
        packed(2 * hidden, depth),
        packed(depth, hidden),
      ]
      const sizes = [2, experts, hidden, depth, 32, bits].map((size) => int(size))
      return callOperator('llama::quantized_moe_ffn', [d.dense([rows, depth]), ...weights, ...sizes, 'sigmoid', float(1)])
    }),
  ),
  dynamic_int4_mm: (['float32', 'bfloat16'] as const).map((dtype) =>
    row(`_dyn_quant_matmul_4bit ${dtype}`, ROUNDING, (d) => {
      const [m, k, n] = [d.integer(1, 6), 32 * d.integer(1, 4), d.length()]
      const weight = d.dense([n, k / 2], { dtype: 'uint8', low: 0, high: 255 })
      const packed = aten('_dyn_quant_pack_4bit_weight', weight, d.dense([n]), d.dense([n]), int(k), int(k), int(n))
      return aten('_dyn_quant_matmul_4bit', d.dense([m, k], { dtype }), packed, int(k), int(k), int(n))
    }),
  ),
  quantized_gemm: [
    row('_int_mm', EXACT, (d) => {
      const [m, k, n] = [d.length(), d.length(), d.length()]
      return aten(
        '_int_mm',
        d.dense([m, k], { dtype: 'int8', low: -128, high: 127 }),
        d.dense([k, n], { dtype: 'int8', low: -128, high: 127 }),
      )
    }),
    row('quantized::linear', EXACT, (d) => {
      const [n, k] = [d.length(), d.length()]
      const weight = aten('quantize_per_tensor', d.dense([n, k]), float(0.01), int(0), 'qint8')
      const packed = callOperator('quantized::linear_prepack', [weight, d.dense([n])])
      return callOperator('quantized::linear', [quantized(d, [d.length(), k]), packed as Input, 0.1, int(100)])
    }),
    quantizedConvolution(1),
    quantizedConvolution(2),
    oddQuantizedConvolution(false),
  ],
  quantized_depthwise: [quantizedConvolution(8), oddQuantizedConvolution(true)],
  float_range: [row('quantize_per_tensor_dynamic', EXACT, (d) => aten('quantize_per_tensor_dynamic', d.dense(d.shape()), 'quint8', false))],
  dequantize_nibbles: [nibbles],
  random_fill: [
    drawn('uniform_', 'float32', float(-1), float(3)),
    drawn('uniform_', 'float64', float(-1), float(3)),
    drawn('normal_', 'float32'),
    drawn('normal_', 'float64', float(2), float(3)),
    drawn('exponential_', 'float32'),
    drawn('log_normal_', 'float32'),
    drawn('random_.from', 'int64', int(-5), int(1000)),
  ],
  random_trials: [
    row('bernoulli', EXACT, (d) => {
      callOperator('aten::manual_seed', [int(SEED)])
      return aten('bernoulli', d.dense([d.length()], { low: 0 }))
    }),
  ],
  random_permutation: [
    row('randperm', EXACT, (d) => {
      callOperator('aten::manual_seed', [int(SEED)])
      return aten('randperm', int(d.length()))
    }),
  ],
  random_choices: [
    row('multinomial', EXACT, (d) => {
      callOperator('aten::manual_seed', [int(SEED)])
      return aten('multinomial', d.dense([3, d.length()], { low: 0.1 }), int(20), true)
    }),
  ],
  random_poisson: [
    row('poisson', EXACT, (d) => {
      callOperator('aten::manual_seed', [int(SEED)])
      return aten('poisson', d.dense([d.length()], { low: 0, high: 30 }))
    }),
  ],
  random_slopes: [
    row('rrelu', ROUNDING, (d) => {
      callOperator('aten::manual_seed', [int(SEED)])
      return aten('rrelu', d.dense([d.length()]), float(0.1), float(0.4), true)
    }),
  ],
}

/** Kernels that are compiled for several levels and have no case of their own. */
export const EXEMPT: Readonly<Record<string, string>> = {
  random_seed: 'every case of a random_ kernel starts with it, and would differ',
  random_state_bytes: 'gives the size of a struct',
  sparse_gemm: 'runs what sparse_gemm_create made; jit-sparse.test.ts compares it with the dense product',
  fused: 'runs chains of the element-wise steps above; the tests of the compiler compare it with them',
  embedding_rows: 'reads 4- and 8-bit tables that only come from model files',
  int4_form: 'differs by design; weight-only.test.ts looks at it',
  vector_length: 'differs by design; levels.test.ts looks at it',
  gemm_pack_size: 'gives the room that gemm_pack then fills at the same level',
  quantized_gemm_pack: "the layout is each level's own; its use by quantized_gemm is compared",
  quantized_gemm_pack_size: 'gives the room that quantized_gemm_pack then fills at the same level',
}
