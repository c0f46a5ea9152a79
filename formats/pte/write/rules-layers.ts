import { unsupported } from '../../../program/file-error.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { AlignedValue } from './aligned.js'
import type { Lowering, Shape } from './lowering.js'
import { productOf, type Rule } from './node.js'
import { isFixed } from './plan-writer.js'

/* Layers as operators of ExecuTorch. */

const last = <T>(list: readonly T[]): T => list.at(-1)!

/** x @ w.T + bias. */
export function linear(l: Lowering, x: AlignedValue, weight: AlignedValue, bias: AlignedValue | null, into?: AlignedValue): AlignedValue {
  const turned = l.permute(weight, [1, 0])
  const [rows, features] = [x.shape.slice(0, -1), turned.shape[1]!]
  const isFlat = rows.length === 1
  const flat = isFlat ? x : l.view(x, [productOf(rows), last(x.shape)])
  const result = l.value(x.dtype, [isFlat ? rows[0]! : productOf(rows), features])
  const made = isFlat && into !== undefined ? into : result
  if (bias === null) l.call('aten::mm.out', [flat, turned], made)
  else l.call('aten::addmm.out', [bias, flat, turned, 1, 1], made)
  return isFlat ? made : l.view(made, [...rows, features], into)
}

/** Products of matrices, as PyTorch's matmul broadcasts them. */
export function matmul(l: Lowering, a: AlignedValue, b: AlignedValue, into: AlignedValue): AlignedValue {
  const [rankA, rankB] = [a.shape.length, b.shape.length]
  if (rankA === 2 && rankB === 2) return l.call('aten::mm.out', [a, b], into)
  if (rankA === 1)
    return l.view(product(l, l.view(a, [[1], a.shape[0]!]), rankB === 1 ? l.view(b, [b.shape[0]!, [1]]) : b), into.shape, into)
  if (rankB === 1) return l.view(product(l, a, l.view(b, [b.shape[0]!, [1]])), into.shape, into)
  return product(l, a, b, into)
}

function product(l: Lowering, a: AlignedValue, b: AlignedValue, into?: AlignedValue): AlignedValue {
  const [m, k] = a.shape.slice(-2) as [Shape[number], Shape[number]]
  const n = last(b.shape)
  if (b.shape.length === 2) {
    const rows = a.shape.slice(0, -1)
    if (rows.length === 1) return l.call('aten::mm.out', [a, b], into ?? l.value(a.dtype, [m, n]))
    const flat = l.call('aten::mm.out', [l.view(a, [productOf(rows), k]), b], l.value(a.dtype, [productOf(rows), n]))
    return l.view(flat, [...rows, n], into)
  }
  const rank = Math.max(a.shape.length, b.shape.length) - 2
  const batch = Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a, b].map(({ shape }) => shape[i - rank + shape.length - 2] ?? [1]) as [Shape[number], Shape[number]]
    return isFixed(x) && x[0] === 1 ? y : x
  })
  const [left, right] = [stacked(l, a, batch), stacked(l, b, batch)]
  const whole = l.value(a.dtype, [productOf(batch), m, n])
  if (rank === 1) return l.call('aten::bmm.out', [left, right], into ?? whole)
  return l.view(l.call('aten::bmm.out', [left, right], whole), [...batch, m, n], into)
}

/** Matrices as a list of them. */
function stacked(l: Lowering, x: AlignedValue, batch: Shape): AlignedValue {
  const [rows, columns] = x.shape.slice(-2) as [Shape[number], Shape[number]]
  const own = x.shape.slice(0, -2)
  const isWhole = own.length === batch.length && own.every((at, i) => at.join() === batch[i]!.join())
  const wide = [...batch, rows, columns]
  const all = isWhole
    ? x
    : l.call('aten::expand_copy.out', [x, wide.map((at) => ({ kind: 'int', at }) as const), false], l.value(x.dtype, wide))
  return batch.length === 1 ? all : l.view(all, [productOf(batch), rows, columns])
}

function convolution(dims: number, isTransposed: boolean): Rule {
  return (args, l) => {
    if (dims > 2) throw unsupported('a convolution of three dimensions, which its kernels have not got')
    const padding = args.text('padding')
    if (padding !== null && padding !== 'valid') throw unsupported(`a convolution with padding '${padding}'`)
    const zeros = Array<number>(dims).fill(0)
    l.call(
      'aten::convolution.out',
      [
        args.tensor('input'),
        args.tensor('weight'),
        args.arg('bias'),
        args.ints('stride', dims),
        padding === null ? args.ints('padding', dims) : zeros,
        args.ints('dilation', dims),
        isTransposed,
        isTransposed ? args.ints('output_padding', dims) : zeros,
        args.int('groups'),
      ],
      args.result,
    )
  }
}

const batchNorm: Rule = (args, l) => {
  if (args.flag('training')) throw unsupported('a batch norm in training mode; use --eval')
  const x = args.tensor('input')
  const none = (): AlignedValue => l.value(x.dtype, [[0]])
  const [mean, variance] = [args.tensor('running_mean'), args.tensor('running_var')]
  l.call(
    'aten::_native_batch_norm_legit_no_training.out',
    [x, args.arg('weight'), args.arg('bias'), mean, variance, new Float(args.number('momentum')), new Float(args.number('eps'))],
    args.result,
    none(),
    none(),
  )
}

const layerNorm: Rule = (args, l) => {
  const x = args.tensor('input')
  const sizes = args.ints('normalized_shape')
  const kept: Shape = [...x.shape.slice(0, x.shape.length - sizes.length), ...sizes.map(() => [1])]
  const statistics = (): AlignedValue => l.value(x.dtype, kept)
  l.call(
    'aten::native_layer_norm.out',
    [x, sizes, args.arg('weight'), args.arg('bias'), new Float(args.number('eps'))],
    args.result,
    args.resultOr(1, statistics),
    args.resultOr(2, statistics),
  )
}

function groups(
  l: Lowering,
  x: AlignedValue,
  weight: AlignedValue | null,
  bias: AlignedValue | null,
  count: number,
  eps: number,
  into: AlignedValue,
): void {
  const [n, c] = x.shape as [Shape[number], Shape[number]]
  const statistics = (): AlignedValue => l.value(x.dtype, [n, [count]])
  l.call(
    'aten::native_group_norm.out',
    [
      x,
      weight,
      bias,
      { kind: 'int', at: n },
      { kind: 'int', at: c },
      { kind: 'int', at: productOf(x.shape.slice(2)) },
      count,
      new Float(eps),
    ],
    into,
    statistics(),
    statistics(),
  )
}

const groupNorm: Rule = (args, l) => {
  groups(
    l,
    args.tensor('input'),
    args.optionalTensor('weight'),
    args.optionalTensor('bias'),
    args.int('num_groups'),
    args.number('eps'),
    args.result,
  )
}

const instanceNorm: Rule = (args, l) => {
  const x = args.tensor('input')
  if (!args.flag('use_input_stats')) throw unsupported('an instance norm with statistics of its own')
  groups(l, x, args.optionalTensor('weight'), args.optionalTensor('bias'), Number(x.shape[1]![0]), args.number('eps'), args.result)
}

/** x / sqrt(mean(x²) + eps) * weight */
const rmsNorm: Rule = (args, l) => {
  const x = args.tensor('input')
  const dims = args.ints('normalized_shape').map((_, i, { length }) => i - length)
  const kept: Shape = x.shape.map((at, i) => (i >= x.shape.length - dims.length ? [1] : at))
  const mean = l.call('aten::mean.out', [l.mul(x, x), dims, true, null], l.value(x.dtype, kept))
  const eps = args.has('eps') ? args.number('eps') : x.dtype === DType.float64 ? 2 ** -52 : 2 ** -23
  const factor = l.unary('rsqrt', l.scalar('add', mean, eps))
  const weight = args.optionalTensor('weight')
  if (weight === null) l.mul(x, factor, args.result)
  else l.mul(l.mul(x, factor), weight, args.result)
}

const attention: Rule = (args, l) => {
  const [q, k, v] = [args.tensor('query'), args.tensor('key'), args.tensor('value')]
  if (args.has('dropout_p') && args.number('dropout_p') > 0) throw unsupported('attention with dropout; use --eval')
  if (args.flag('enable_gqa')) throw unsupported('attention whose keys have fewer heads (enable_gqa)')
  const depth = Number(last(q.shape)[0])
  const rank = q.shape.length
  const order = q.shape.map((_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i))
  const scaled = l.scalar('mul', q, args.has('scale') ? args.number('scale') : 1 / Math.sqrt(depth))
  const shape: Shape = [...q.shape.slice(0, -1), k.shape[rank - 2]!]
  let scores = matmul(l, scaled, l.permute(k, order), l.value(q.dtype, shape))
  if (args.has('attn_mask')) scores = masked(l, scores, args.tensor('attn_mask'))
  else if (args.flag('is_causal')) scores = causal(l, scores)
  matmul(l, l.softmax(scores, rank - 1), v, args.result)
}

/** Scores with a mask, of bools or of what is added. */
function masked(l: Lowering, scores: AlignedValue, mask: AlignedValue): AlignedValue {
  if (mask.dtype !== DType.bool) return l.add(scores, mask)
  const least = l.call('aten::full.out', [[], new Float(-Infinity)], l.value(scores.dtype, []))
  return l.call('aten::where.self_out', [mask, scores, least], l.like(scores))
}

function causal(l: Lowering, scores: AlignedValue): AlignedValue {
  const shape = scores.shape.slice(-2)
  const ones = l.call('aten::full.out', [shape.map((at) => ({ kind: 'int', at }) as const), 1], l.value(scores.dtype, shape))
  const lower = l.call('aten::tril.out', [ones, 0], l.like(ones))
  return masked(l, scores, l.call('aten::gt.Scalar_out', [lower, 0], l.value(DType.bool, shape)))
}

/** The largest of windows; positions are made, too. */
function maxPool(dims: 1 | 2): Rule {
  return (args, l) => {
    const x = args.tensor('self')
    const two = (name: string, one: number): number[] => (dims === 2 ? args.ints(name, 2) : [one, ...args.ints(name)])
    const window = two('kernel_size', 1)
    const stride = args.ints('stride').length === 0 || !args.has('stride') ? window : two('stride', 1)
    const wide = dims === 2 ? x : l.view(x, [...x.shape.slice(0, -1), [1], last(x.shape)])
    const result = args.result
    const shape: Shape = dims === 2 ? result.shape : [...result.shape.slice(0, -1), [1], last(result.shape)]
    const made = dims === 2 ? result : l.value(x.dtype, shape)
    l.call(
      'aten::max_pool2d_with_indices.out',
      [wide, window, stride, two('padding', 0), two('dilation', 1), args.flag('ceil_mode')],
      made,
      dims === 2 ? args.resultOr(1, () => l.value(DType.int64, shape)) : l.value(DType.int64, shape),
    )
    if (dims === 1) l.view(made, result.shape, result)
  }
}

const averagePool1d: Rule = (args, l) => {
  const x = args.tensor('self')
  const wide = l.view(x, [...x.shape.slice(0, -1), [1], last(x.shape)])
  const { result } = args
  const made = l.value(x.dtype, [...result.shape.slice(0, -1), [1], last(result.shape)])
  const window = args.ints('kernel_size')[0]!
  const stride = args.ints('stride')[0] ?? window
  l.call(
    'aten::avg_pool2d.out',
    [wide, [1, window], [1, stride], [0, args.ints('padding')[0]!], args.flag('ceil_mode'), args.flag('count_include_pad'), null],
    made,
  )
  l.view(made, result.shape, result)
}

const adaptiveAverage: Rule = (args, l) => {
  l.call('aten::_adaptive_avg_pool2d.out', [args.tensor('self'), args.arg('output_size')], args.result)
}

const adaptiveAverage1d: Rule = (args, l) => {
  const [x, { result }] = [args.tensor('self'), args]
  const made = l.value(x.dtype, [...result.shape.slice(0, -1), [1], last(result.shape)])
  l.call(
    'aten::_adaptive_avg_pool2d.out',
    [l.view(x, [...x.shape.slice(0, -1), [1], last(x.shape)]), [1, args.ints('output_size')[0]!]],
    made,
  )
  l.view(made, result.shape, result)
}

function resize(name: string): Rule {
  return (args, l) => {
    const corners = name.includes('nearest') ? [] : [args.flag('align_corners')]
    l.call(`aten::${name}.vec_out`, [args.tensor('self'), args.arg('output_size'), ...corners, null], args.result)
  }
}

export const LAYERS: Readonly<Record<string, Rule>> = {
  'aten::linear': (args, l) => {
    const x = args.tensor('input')
    const [weight, bias] = [args.tensor('weight'), args.optionalTensor('bias')]
    if (x.shape.length > 1) return void linear(l, x, weight, bias, args.result)
    l.view(linear(l, l.view(x, [[1], x.shape[0]!]), weight, bias), args.result.shape, args.result)
  },
  'aten::matmul': (args, l) => void matmul(l, args.tensor('self'), args.tensor('other'), args.result),
  'aten::baddbmm': (args, l) => {
    const product = l.scalar('mul', matmul(l, args.tensor('batch1'), args.tensor('batch2'), l.like(args.result)), args.number('alpha'))
    l.add(product, l.scalar('mul', args.tensor('self'), args.number('beta')), args.result)
  },
  'aten::conv1d': convolution(1, false),
  'aten::conv2d': convolution(2, false),
  'aten::conv3d': convolution(3, false),
  'aten::conv_transpose1d': convolution(1, true),
  'aten::conv_transpose2d.input': convolution(2, true),
  'aten::batch_norm': batchNorm,
  'aten::layer_norm': layerNorm,
  'aten::group_norm': groupNorm,
  'aten::instance_norm': instanceNorm,
  'aten::rms_norm': rmsNorm,
  'aten::scaled_dot_product_attention': attention,
  'aten::max_pool1d': maxPool(1),
  'aten::max_pool2d': maxPool(2),
  'aten::max_pool2d_with_indices': maxPool(2),
  'aten::avg_pool1d': averagePool1d,
  'aten::adaptive_avg_pool1d': adaptiveAverage1d,
  'aten::adaptive_avg_pool2d': adaptiveAverage,
  'aten::upsample_nearest2d': resize('upsample_nearest2d'),
  'aten::upsample_bilinear2d': resize('upsample_bilinear2d'),
}
