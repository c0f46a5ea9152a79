import { itemOf, readTensor } from '../../../runtime/tensor/data.js'
import { DType, isComplex } from '../../../runtime/tensor/dtype.js'
import { Float, scalarToNumber } from '../../../runtime/tensor/scalar.js'
import { contiguousStrides, isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type OperatorNode, NONE, type ValueId } from '../../graph/graph.js'
import { type Analysis, inputArg, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import type { Editor } from '../editor.js'
import { type Canonical, firstResult, isDenseNode, number, NodesBefore, typesOf } from './form.js'

/* Element-wise operators. */

/** prelu with one constant slope. */
export function oneSlope(node: OperatorNode, analysis: Analysis): Canonical | null {
  const [x, slope] = node.args.map(valueArg)
  const tensor = slope === undefined ? undefined : analysis.tensor(slope)
  if (x === undefined || tensor?.numel !== 1 || tensor.type !== DType.float32) return null
  return { op: 'aten::leaky_relu', args: [inputArg(node), number(Number(readTensor(tensor)[0]))] }
}

/** exp(x inputScale) - 1, times alpha, below 0; all times scale. In steps: x inputScale, elu, and a factor. */
export function eluSteps(
  node: OperatorNode,
  [alpha, scale, inputScale]: readonly [number, number, number],
  analysis: Analysis,
  editor: Editor,
): Canonical | null {
  if (!isDenseNode(node, analysis) || (scale === 1 && inputScale === 1 && node.op === 'aten::elu')) return null
  const steps = new NodesBefore(node, editor)
  const type = analysis.type(firstResult(node)!)
  const x = inputScale === 1 ? inputArg(node) : steps.add('aten::mul.Scalar', [inputArg(node), number(inputScale)], type)
  const curve = [x, number(alpha * inputScale), constant(1), constant(1)]
  if (scale === inputScale) return { op: 'aten::elu', args: curve, before: steps.nodes }
  const y = steps.add('aten::elu', curve, type)
  return { op: 'aten::mul.Scalar', args: [y, number(scale / inputScale)], before: steps.nodes }
}

export function celu(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  const alpha = numberArg(named(node, 'alpha'))
  return alpha === undefined || !(alpha > 0) || !Number.isFinite(1 / alpha) ? null : eluSteps(node, [alpha, 1, 1 / alpha], analysis, editor)
}

export function elu(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  const numbers = [1, 2, 3].map((i) => numberArg(node.args[i]))
  const usual = numbers.every((v) => v !== undefined && v > 0 && Number.isFinite(v))
  return usual ? eluSteps(node, numbers as [number, number, number], analysis, editor) : null
}

/** -softplus(-x). */
export function logSigmoid(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  if (!isDenseNode(node, analysis)) return null
  const steps = new NodesBefore(node, editor)
  const type = analysis.type(firstResult(node)!)
  const x = steps.add('aten::neg', [inputArg(node)], type)
  const y = steps.add('aten::softplus', [x, constant(1), constant(20)], type)
  return { op: 'aten::neg', args: [y], before: steps.nodes }
}

/** x + value a b, or x + value a / b, where a product of this shape is dense, or lies in memory as the factor of this shape does. */
export function productAdded(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  const [x, a, b, factor] = node.args as readonly [Arg, Arg, Arg, Arg]
  const type = analysis.type(firstResult(node)!)
  const full = [a, b].map(valueArg).filter((id) => id !== undefined && sameShape(analysis.type(id).shape, type.shape)) as ValueId[]
  const isAlike = (arg: Arg): boolean => valueArg(arg) !== undefined && analysis.type(valueArg(arg)!).dtype === DType.float32
  const keepsOrder =
    type.dtype === DType.float32 && [x, a, b].every(isAlike) && full.every((id) => sameShape(analysis.type(id).strides, type.strides))
  if (numberArg(factor) !== 1 || !(isDenseNode(node, analysis) || keepsOrder) || full.length === 0) return null
  const steps = new NodesBefore(node, editor)
  const y = steps.add(node.op === 'aten::addcmul' ? 'aten::mul.Tensor' : 'aten::div.Tensor', [a, b], type)
  return { op: 'aten::add.Tensor', args: [x, y, constant(1)], before: steps.nodes }
}

/** Bounds on floats: relu and relu6 where they are those, else a clamp. */
export function bounded(node: OperatorNode, min: Arg, max: Arg, analysis: Analysis): Canonical | null {
  const types = typesOf(node, analysis)
  if (types === null || types.some(({ dtype }) => dtype !== DType.float32)) return null
  const [low, high] = [min, max].map((arg) => (isNone(arg) ? null : numberArg(arg)))
  if (low === undefined || high === undefined) return null
  const input = inputArg(node)
  if (low === 0 && (high === null || high === 6)) return { op: high === null ? 'aten::relu' : 'aten::relu6', args: [input] }
  return node.op === 'aten::clamp' ? null : { op: 'aten::clamp', args: [input, min, max] }
}

/** threshold(x, 0, 0). */
export function threshold(node: OperatorNode, analysis: Analysis): Canonical | null {
  const isZero = [1, 2].every((i) => numberArg(node.args[i]) === 0)
  return isZero ? bounded(node, constant(0), NONE, analysis) : null
}

/** Powers that are operators of their own. */
const POWERS: ReadonlyMap<number | undefined, string> = new Map([
  [2, 'aten::square'],
  [0.5, 'aten::sqrt'],
  [-0.5, 'aten::rsqrt'],
  [-1, 'aten::reciprocal'],
])

/** A power of floats by a number, which may be a constant tensor. */
export function power({ args }: OperatorNode, analysis: Analysis): Canonical | null {
  const [x, exponent] = args as readonly [Arg, Arg]
  const id = valueArg(x)
  if (id === undefined || analysis.type(id).dtype !== DType.float32) return null
  const given = numberOf(exponent, id, analysis)
  const op = POWERS.get(given?.value ?? numberArg(exponent))
  if (op !== undefined) return { op, args: [x] }
  return given === null ? null : { op: 'aten::pow.Tensor_Scalar', args: [x, constant(given)] }
}

/** (b, a, alpha): b alpha is subtracted from a. */
export function subtractedFrom({ args }: OperatorNode): Canonical {
  const [b, a, alpha] = args as readonly [Arg, Arg, Arg]
  return { op: 'aten::sub.Tensor', args: [a, b, alpha] }
}

/** Arithmetic with a constant of one element that has no say in dtype and shape. */
export function withNumber(node: OperatorNode, analysis: Analysis): Canonical | null {
  const { op, args } = node
  const result = onlyResult(node)
  const [a, b, alpha] = args as [Arg, Arg, Arg | undefined]
  if (result === undefined || analysis.type(result).dtype !== DType.float32) return null
  const factor = alpha === undefined ? 1 : numberArg(alpha)
  for (const [tensor, other, isFirst] of [[a, b, false] as const, [b, a, true] as const]) {
    const id = valueArg(tensor)
    const type = id === undefined ? undefined : analysis.type(id)
    const found = type === undefined ? null : numberOf(other, id!, analysis)
    if (found === null || type?.dtype !== DType.float32 || type.shape.length === 0) continue
    if (!isFirst) return { op: op.replace('.Tensor', '.Scalar'), args: [tensor, constant(found), ...args.slice(2)] }
    if (op === 'aten::div.Tensor') return found.value === 1 ? { op: 'aten::reciprocal', args: [tensor] } : null
    if (op === 'aten::sub.Tensor') return { op: 'aten::rsub.Scalar', args: [tensor, constant(found), alpha!] }
    return factor === 1 ? { op: op.replace('.Tensor', '.Scalar'), args: [tensor, constant(found), ...args.slice(2)] } : null
  }
  return null
}

/** What numbers of a program become as tensors. */
const NUMBERS: ReadonlySet<DType> = new Set([DType.float32, DType.float64, DType.int64, DType.int32, DType.bool])

/** The number of a constant of one element that changes neither the dtype nor the shape of what it is combined with. */
function numberOf(arg: Arg, other: number, analysis: Analysis): Float | null {
  const id = valueArg(arg)
  const tensor = id === undefined ? undefined : analysis.tensor(id)
  if (tensor?.numel !== 1 || !NUMBERS.has(tensor.type)) return null
  const { dtype, shape } = analysis.type(other)
  const isSilent = tensor.dim === 0 || (tensor.type === dtype && tensor.dim <= shape.length)
  return isSilent ? new Float(Number(readTensor(tensor)[0])) : null
}

/** A fill with a constant tensor of no dimensions. */
export function filled({ args }: OperatorNode, analysis: Analysis): Canonical | null {
  const [x, mask, fill] = args as readonly [Arg, Arg, Arg]
  const id = valueArg(x)
  const found = id === undefined || analysis.type(id).dtype !== DType.float32 ? null : numberOf(fill, id, analysis)
  return found === null ? null : { op: 'aten::masked_fill.Scalar', args: [x, mask, constant(found)] }
}

/** -inf where a mask says so, else what a tensor of the result's shape has: scores of attention. */
export function chosenScore(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  const [mask, ...choices] = node.args as readonly [Arg, Arg, Arg]
  const [m, result] = [valueArg(mask), onlyResult(node)]
  if (m === undefined || result === undefined || analysis.type(m).dtype !== DType.bool) return null
  const type = analysis.type(result)
  if (type.dtype !== DType.float32 || !isContiguous(type.shape, type.strides)) return null
  const isScore = (id: number | undefined): id is number =>
    id !== undefined && analysis.type(id).dtype === type.dtype && sameShape(analysis.type(id).shape, type.shape)
  for (const [scores, fill, isHidden] of [[choices[1], choices[0], true] as const, [choices[0], choices[1], false] as const]) {
    const id = valueArg(scores)
    if (!isScore(id) || (numberArg(fill) ?? numberOf(fill, id, analysis)?.value) !== -Infinity) continue
    const steps = new NodesBefore(node, editor)
    const { shape } = analysis.type(m)
    const hidden = (): Arg => steps.add('aten::logical_not', [mask], { ...analysis.type(m), strides: contiguousStrides(shape), offset: 0 })
    if (!isHidden && !isContiguous(shape, analysis.type(m).strides)) return null
    return { op: 'aten::masked_fill.Scalar', args: [scores, isHidden ? mask : hidden(), number(-Infinity)], before: steps.nodes }
  }
  return null
}

/** A cast, in the layout that its argument has; `copy` says whether a tensor of this dtype is copied, too. */
export function cast(node: OperatorNode, copy: Arg, memoryFormat: Arg | undefined, analysis: Analysis): Canonical | null {
  const types = typesOf(node, analysis)
  if (types === null || !(memoryFormat === undefined || isNone(memoryFormat))) return null
  const [from, to] = types
  if (from.dtype === to.dtype || isComplex(from.dtype) || isComplex(to.dtype)) return null
  return { op: 'aten::to.dtype', args: [inputArg(node), constant(to.dtype), constant(false), copy, NONE] }
}

/** A softmax or its logarithm that casts to the dtype it has. */
export function withoutCast({ op, args }: OperatorNode, analysis: Analysis): Canonical | null {
  const [input, dim, dtype] = args as readonly [Arg, Arg, Arg]
  const id = valueArg(input)
  if (id === undefined || isNone(dtype) || numberArg(dtype) !== analysis.type(id).dtype) return null
  return { op, args: [input, dim, NONE] }
}

/** Parameters of a quantization that are constant tensors, as numbers. */
export function quantizedByNumbers({ args }: OperatorNode, analysis: Analysis): Canonical | null {
  const [x, scale, zeroPoint, dtype] = args as readonly [Arg, Arg, Arg, Arg]
  const [s, z] = [scale, zeroPoint].map((arg) => {
    const id = valueArg(arg)
    const tensor = id === undefined ? undefined : analysis.tensor(id)
    return tensor?.numel === 1 ? scalarToNumber(itemOf(tensor)) : undefined
  })
  return s === undefined || z === undefined ? null : { op: 'aten::quantize_per_tensor', args: [x, number(s), constant(z), dtype] }
}
