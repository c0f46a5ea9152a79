import { unsupported } from '../../../program/file-error.js'
import { DType, isFloating } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import type { AlignedValue } from './aligned.js'
import type { Lowering } from './lowering.js'
import type { NodeArguments, Rule } from './node.js'

/* Operators on elements, and reductions, as those of ExecuTorch. */

type OfOne = (x: AlignedValue, l: Lowering, into: AlignedValue, args: NodeArguments) => void

/** A rule for an operator of one tensor. */
const of = (write: OfOne): Rule => {
  return (args, l) => write(args.tensor('self'), l, args.result, args)
}

/** relu6(x + 3). */
const ramp = (x: AlignedValue, l: Lowering): AlignedValue => l.clamp(l.scalar('add', x, 3), 0, 6)

/** log(1 + exp(-|x|)) + max(x, 0), which no x is too large for. */
function softplus(x: AlignedValue, l: Lowering, into?: AlignedValue): AlignedValue {
  const small = l.unary('log1p', l.unary('exp', l.unary('neg', l.unary('abs', x))))
  return l.add(small, l.unary('relu', x), into)
}

/** elu with alpha, and factors before and behind it. */
const elu = (alpha: number, scale: number, inputScale: number): OfOne => {
  return (x, l, into) => l.call('aten::elu.out', [x, new Float(alpha), new Float(scale), new Float(inputScale)], into)
}

const bounds = (min: boolean, max: boolean): Rule => {
  return (args, l) => {
    l.call('aten::clamp.out', [args.tensor('self'), min ? args.arg('min') : null, max ? args.arg('max') : null], args.result)
  }
}

/** `dtype` says what is computed with. */
function normalized(name: string): Rule {
  return (args, l) => {
    const { result } = args
    const x = args.tensor('self')
    l.softmax(x.dtype === result.dtype ? x : l.cast(x, result.dtype), args.dim('dim', x.shape.length), name, result)
  }
}

const allOf = (args: NodeArguments, l: Lowering): void => {
  const x = args.tensor('self')
  const none = l.call('aten::logical_not.out', [x], l.value(DType.bool, x.shape))
  const some = args.has('dim')
    ? l.call('aten::any.out', [none, args.arg('dim'), args.flag('keepdim')], l.value(DType.bool, args.result.shape))
    : l.call('aten::any.all_out', [none], l.value(DType.bool, args.result.shape))
  l.call('aten::logical_not.out', [some], args.result)
}

const prelu: Rule = (args, l) => {
  const [x, weight] = [args.tensor('self'), args.tensor('weight')]
  const slope =
    Number(weight.shape[0]?.[0] ?? 1) > 1 && x.shape.length > 2
      ? l.view(weight, [weight.shape[0]!, ...x.shape.slice(2).map(() => [1])])
      : weight
  const isPositive = l.call('aten::gt.Scalar_out', [x, 0], l.value(DType.bool, x.shape))
  l.call('aten::where.self_out', [isPositive, x, l.mul(x, slope)], args.result)
}

const vectorNorm: Rule = (args, l) => {
  const [x, order] = [args.tensor('self'), args.number(args.node.op.includes('vector') ? 'ord' : 'p')]
  if (order !== 1 && order !== 2) throw unsupported(`a norm of order ${order}`)
  const powers = order === 1 ? l.unary('abs', x) : l.mul(x, x)
  const sum = l.call(
    'aten::sum.IntList_out',
    [powers, args.arg('dim'), args.flag('keepdim'), null],
    order === 1 ? args.result : l.like(args.result),
  )
  if (order === 2) l.unary('sqrt', sum, args.result)
}

function deviation(name: string): Rule {
  return (args, l) => {
    const correction = name === 'correction' ? args.arg('correction') : args.flag('unbiased') ? 1 : 0
    const dim = args.has('dim') ? args.arg('dim') : null
    const variance = l.call('aten::var.correction_out', [args.tensor('self'), dim, correction, args.flag('keepdim')], l.like(args.result))
    l.unary('sqrt', variance, args.result)
  }
}

const cast: Rule = (args, l) => {
  const [x, { result }] = [args.tensor('self'), args]
  if (x.dtype === result.dtype) l.alias(result, x)
  else l.cast(x, result.dtype, result)
}

export const ELEMENTS: Readonly<Record<string, Rule>> = {
  'aten::silu': of((x, l, into) => l.mul(x, l.unary('sigmoid', x), into)),
  'aten::hardswish': of((x, l, into) => l.scalar('div', l.mul(x, ramp(x, l)), 6, into)),
  'aten::hardsigmoid': of((x, l, into) => l.scalar('div', ramp(x, l), 6, into)),
  'aten::relu6': of((x, l, into) => l.clamp(x, 0, 6, into)),
  'aten::zero': of((x, l, into) => l.call('aten::fill.Scalar_out', [x, 0], into)),
  'aten::square': of((x, l, into) => l.mul(x, x, into)),
  'aten::softplus': of((x, l, into, args) => {
    if (args.number('beta') !== 1) throw unsupported(`softplus with beta ${args.number('beta')}`)
    softplus(x, l, into)
  }),
  'aten::mish': of((x, l, into) => l.mul(x, l.unary('tanh', softplus(x, l)), into)),
  'aten::log_sigmoid': of((x, l, into) => l.unary('neg', softplus(l.unary('neg', x), l), into)),
  'aten::selu': of(elu(1.6732632423543772, 1.0507009873554805, 1)),
  'aten::celu': of((x, l, into, args) => elu(args.number('alpha'), 1, 1 / args.number('alpha'))(x, l, into, args)),
  'aten::frac': of((x, l, into) => l.call('aten::sub.out', [x, l.unary('trunc', x), 1], into)),
  'aten::prelu': prelu,
  'aten::clamp_min': bounds(true, false),
  'aten::clamp_max': bounds(false, true),
  'aten::softmax.int': normalized('_softmax'),
  'aten::log_softmax.int': normalized('_log_softmax'),
  'aten::max.other': (args, l) => void l.call('aten::maximum.out', [args.tensor('self'), args.tensor('other')], args.result),
  'aten::min.other': (args, l) => void l.call('aten::minimum.out', [args.tensor('self'), args.tensor('other')], args.result),
  'aten::sum': (args, l) => void l.call('aten::sum.IntList_out', [args.tensor('self'), null, false, null], args.result),
  'aten::mean': (args, l) => void l.call('aten::mean.out', [args.tensor('self'), null, false, null], args.result),
  'aten::all': allOf,
  'aten::all.dim': allOf,
  'aten::linalg_vector_norm': vectorNorm,
  'aten::norm.ScalarOpt_dim': vectorNorm,
  'aten::std': deviation('unbiased'),
  'aten::std.dim': deviation('unbiased'),
  'aten::std.correction': deviation('correction'),
  'aten::rsub.Tensor': (args, l) =>
    void l.call('aten::sub.out', [args.tensor('other'), args.tensor('self'), args.arg('alpha')], args.result),
  'aten::mse_loss': (args, l) => {
    const difference = l.call('aten::sub.out', [args.tensor('self'), args.tensor('target'), 1], l.like(args.tensor('self')))
    const reduction = args.int('reduction')
    if (reduction === 0) return void l.mul(difference, difference, args.result)
    l.call(`aten::${reduction === 1 ? 'mean.out' : 'sum.IntList_out'}`, [l.mul(difference, difference), null, false, null], args.result)
  },
  'aten::__lshift__.Scalar': (args, l) =>
    void l.call('aten::bitwise_left_shift.Tensor_Scalar_out', [args.tensor('self'), args.arg('other')], args.result),
  'aten::__rshift__.Scalar': (args, l) =>
    void l.call('aten::bitwise_right_shift.Tensor_Scalar_out', [args.tensor('self'), args.arg('other')], args.result),
  'aten::__lshift__.Tensor': (args, l) =>
    void l.call('aten::bitwise_left_shift.Tensor_out', [args.tensor('self'), args.tensor('other')], args.result),
  'aten::__rshift__.Tensor': (args, l) =>
    void l.call('aten::bitwise_right_shift.Tensor_out', [args.tensor('self'), args.tensor('other')], args.result),
  'aten::_add_relu.Tensor': (args, l) => {
    const sum = l.call('aten::add.out', [args.tensor('self'), args.tensor('other'), args.arg('alpha')], l.like(args.result))
    l.unary('relu', sum, args.result)
  },
  'aten::addcmul': (args, l) => {
    const product = l.mul(args.tensor('tensor1'), args.tensor('tensor2'))
    l.call('aten::add.out', [args.tensor('self'), product, args.arg('value')], args.result)
  },
  'aten::to.dtype': cast,
  ...Object.fromEntries(['Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'].map((name) => [`aten::_cast_${name}`, cast])),
  'aten::where.ScalarOther': (args, l) => chosen(args, l, args.tensor('self'), full(args, l, 'other')),
  'aten::where.ScalarSelf': (args, l) => chosen(args, l, full(args, l, 'self'), args.tensor('other')),
  'aten::where.Scalar': (args, l) => chosen(args, l, full(args, l, 'self'), full(args, l, 'other')),
}

function chosen(args: NodeArguments, l: Lowering, yes: AlignedValue, no: AlignedValue): void {
  l.call('aten::where.self_out', [args.tensor('condition'), yes, no], args.result)
}

/** A tensor of one number of the result's dtype. */
function full(args: NodeArguments, l: Lowering, name: string): AlignedValue {
  const { dtype } = args.result
  const number = args.number(name)
  return l.call('aten::full.out', [[], isFloating(dtype) ? new Float(number) : number], l.value(dtype, []))
}
