import { DType } from '../../runtime/tensor/dtype.js'
import { itemOf, readTensor } from '../../runtime/tensor/data.js'
import { Float, scalarToNumber } from '../../runtime/tensor/scalar.js'
import { contiguousStrides, sameShape } from '../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, NONE, value, type ValueId } from '../graph/graph.js'
import { type Analysis, integersArg, isDenseFloat, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
import type { Editor } from './editor.js'

/** Another way to write a node: its operator and arguments, and nodes that prepare these. */
export interface Canonical {
  readonly op: string
  readonly args: readonly Arg[]
  readonly before?: readonly GraphNode[]
}

/** The canonical form of a node, or null where the node has none. Only the first result counts. */
export type Form = (node: GraphNode, analysis: Analysis, editor: Editor) => Canonical | null

const DIMS = [1, 2, 3] as const
/** No dilation, in as many dimensions as there are. */
const ONES = constant([1])

/** Operators under other names, which take the same arguments. */
const ALIASES: Readonly<Record<string, string>> = {
  'multiply.Tensor': 'mul.Tensor',
  'multiply.Scalar': 'mul.Scalar',
  'divide.Tensor': 'div.Tensor',
  'divide.Scalar': 'div.Scalar',
  'true_divide.Tensor': 'div.Tensor',
  'true_divide.Scalar': 'div.Scalar',
  'subtract.Tensor': 'sub.Tensor',
  'subtract.Scalar': 'sub.Scalar',
  negative: 'neg',
  absolute: 'abs',
  clip: 'clamp',
  special_expit: 'sigmoid',
  special_erf: 'erf',
  concat: 'cat',
  concatenate: 'cat',
}

/** Klambauer et al., "Self-Normalizing Neural Networks". */
const SELU = { alpha: 1.6732632423543772, scale: 1.0507009873554805 }

/** Every spelling that becomes another one. */
export const CANONICAL_FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ...['aten::_convolution', 'aten::_convolution.deprecated', 'aten::convolution'].map((op): [string, Form] => [op, convolution]),
  ...DIMS.map((dims): [string, Form] => [
    `aten::conv${dims}d.padding`,
    (node, analysis, editor) => paddedByName(node, dims, analysis, editor),
  ]),
  ['aten::_convolution_mode', convolutionMode],
  ['aten::thnn_conv2d', (node) => ofKernelSize(node, 2, ONES)],
  ['aten::_slow_conv2d_forward', (node) => ofKernelSize(node, 2, ONES)],
  ['aten::slow_conv3d', (node) => ofKernelSize(node, 3, ONES)],
  ['aten::slow_conv3d_forward', (node) => ofKernelSize(node, 3, ONES)],
  ['aten::slow_conv_dilated2d', (node) => ofKernelSize(node, 2, node.args[6]!)],
  ['aten::slow_conv_dilated3d', (node) => ofKernelSize(node, 3, node.args[6]!)],
  ['aten::_conv_depthwise2d', (node, analysis) => depthwise(node, 2, analysis)],
  ['aten::conv_depthwise3d', (node, analysis) => depthwise(node, 3, analysis)],
  ['aten::slow_conv_transpose2d', (node) => transposedOfKernelSize(node, 2)],
  ['aten::slow_conv_transpose3d', (node) => transposedOfKernelSize(node, 3)],
  ['aten::_nnpack_spatial_convolution', nnpack],
  ...['native_batch_norm', '_native_batch_norm_legit', '_batch_norm_impl_index'].map((name): [string, Form] => [
    `aten::${name}`,
    (node) => (isFalse(node.args[5]) ? batchNorm(node, 6) : null),
  ]),
  ...['_native_batch_norm_legit_no_training', '_batch_norm_no_update'].map((name): [string, Form] => [
    `aten::${name}`,
    (node) => batchNorm(node, 5),
  ]),
  ['aten::prelu', oneSlope],
  ['aten::selu', (node, analysis, editor) => eluSteps(node, SELU.alpha, SELU.scale, 1, analysis, editor)],
  ['aten::celu', celu],
  ['aten::elu', elu],
  ['aten::log_sigmoid', logSigmoid],
  ['aten::log_sigmoid_forward', logSigmoid],
  ['aten::addcmul', productAdded],
  ['aten::addcdiv', productAdded],
  ...Object.entries(ALIASES).map(([alias, op]): [string, Form] => [`aten::${alias}`, ({ args }) => ({ op: `aten::${op}`, args })]),
  ['aten::quantize_per_tensor.tensor_qparams', quantizedByNumbers],
  ['aten::hardtanh', relu6],
  ['aten::clamp', relu6],
  ...['add', 'sub', 'mul', 'div'].map((name): [string, Form] => [`aten::${name}.Tensor`, withNumber]),
  ['aten::softmax.int', withoutCast],
  ['aten::_softmax', (node) => (isFalse(node.args[2]) ? { op: 'aten::softmax.int', args: [node.args[0]!, node.args[1]!, NONE] } : null)],
])

function isFalse(arg: Arg | undefined): boolean {
  return arg?.kind === 'constant' && arg.value === false
}

/** Of batches: `conv1d` to `conv3d`, and `conv_transpose1d` to `conv_transpose3d`. */
function convolution({ args }: GraphNode, analysis: Analysis): Canonical | null {
  const [input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups] = args as readonly Arg[] & { 8: Arg }
  const [x, w] = [valueArg(input), valueArg(weight)]
  if (x === undefined || w === undefined || transposed?.kind !== 'constant') return null
  const rank = analysis.type(w).shape.length
  const dims = rank - 2
  if (dims < 1 || dims > 3 || analysis.type(x).shape.length !== rank) return null
  if ([stride, padding, dilation, outputPadding].some((list) => integersArg(list)?.length !== dims)) return null
  const common = [input!, weight!, bias!, stride!, padding!]
  if (transposed.value === false) return { op: `aten::conv${dims}d`, args: [...common, dilation!, groups] }
  return { op: transposedName(dims), args: [...common, outputPadding!, groups, dilation!] }
}

function transposedName(dims: number): string {
  return dims === 1 ? 'aten::conv_transpose1d' : `aten::conv_transpose${dims}d.input`
}

/** Padding 'valid' is none; 'same' is half of what a window is longer than 1, the odd one behind, which the input is padded with. */
function paddedByName({ args, origin }: GraphNode, dims: number, analysis: Analysis, editor: Editor): Canonical | null {
  const [input, weight, bias, stride, name, dilation, groups] = args as readonly [Arg, Arg, Arg, Arg, Arg, Arg, Arg]
  const [x, w] = [valueArg(input), valueArg(weight)]
  const steps = integersArg(dilation)
  if (x === undefined || w === undefined || steps === undefined || name.kind !== 'constant') return null
  if (analysis.type(x).shape.length !== dims + 2) return null
  const op = `aten::conv${dims}d`
  if (name.value === 'valid')
    return { op, args: [input, weight, bias, stride, constant(new Array<number>(dims).fill(0)), dilation, groups] }
  if (name.value !== 'same') return null
  const total = Array.from({ length: dims }, (_, d) => (steps[d] ?? steps[0]!) * (analysis.type(w).shape[d + 2]! - 1))
  const padding = constant(total.map((n) => Math.floor(n / 2)))
  const behind = total.map((n) => n % 2)
  if (behind.every((n) => n === 0)) return { op, args: [input, weight, bias, stride, padding, dilation, groups] }
  const padded = paddedBehind(x, behind, analysis, editor)
  const pads = constant(behind.toReversed().flatMap((n) => [0, n]))
  const pad: GraphNode = {
    op: 'aten::constant_pad_nd',
    args: [input, pads, constant(0)],
    results: [{ kind: 'value', id: padded }],
    writes: [],
    origin,
  }
  return { op, args: [value(padded), weight, bias, stride, padding, dilation, groups], before: [pad] }
}

/** The same, whose number of dimensions is that of the weight. */
function convolutionMode(node: GraphNode, analysis: Analysis, editor: Editor): Canonical | null {
  const w = valueArg(node.args[1])
  const dims = w === undefined ? 0 : analysis.type(w).shape.length - 2
  return dims >= 1 && dims <= 3 ? paddedByName(node, dims, analysis, editor) : null
}

function paddedBehind(x: ValueId, behind: readonly number[], analysis: Analysis, editor: Editor): ValueId {
  const type = analysis.type(x)
  const shape = type.shape.map((n, d) => n + (behind[d - 2] ?? 0))
  return editor.newValue({ ...type, shape, strides: contiguousStrides(shape), offset: 0 })
}

/** (input, weight, kernel size, bias, stride, padding). */
function ofKernelSize({ args }: GraphNode, dims: number, dilation: Arg): Canonical | null {
  const [input, weight, , bias, stride, padding] = args as readonly [Arg, Arg, Arg, Arg, Arg, Arg]
  return { op: `aten::conv${dims}d`, args: [input, weight, bias, stride, padding, dilation, constant(1)] }
}

/** The same with a dilation, one filter or more for each channel. */
function depthwise(node: GraphNode, dims: number, analysis: Analysis): Canonical | null {
  const x = valueArg(node.args[0])
  const channels = x === undefined ? undefined : analysis.type(x).shape[1]
  const form = ofKernelSize(node, dims, node.args[6]!)
  if (form === null || channels === undefined || analysis.type(x!).shape.length !== dims + 2) return null
  return { ...form, args: [...form.args.slice(0, -1), constant(channels)] }
}

/** (input, weight, kernel size, bias, stride, padding, output padding, dilation). */
function transposedOfKernelSize({ args }: GraphNode, dims: number): Canonical | null {
  const [input, weight, , bias, stride, padding, outputPadding, dilation] = args as readonly [Arg, Arg, Arg, Arg, Arg, Arg, Arg, Arg]
  return { op: transposedName(dims), args: [input, weight, bias, stride, padding, outputPadding, constant(1), dilation] }
}

/** (input, weight, bias, padding, stride). */
function nnpack({ args }: GraphNode): Canonical | null {
  const [input, weight, bias, padding, stride] = args as readonly [Arg, Arg, Arg, Arg, Arg]
  return { op: 'aten::conv2d', args: [input, weight, bias, stride, padding, ONES, constant(1)] }
}

/** (input, weight, bias, mean, variance, ..., momentum, eps), the last two from `momentum` on. */
function batchNorm({ args }: GraphNode, momentum: number): Canonical | null {
  if (isNone(args[3]) || isNone(args[4])) return null
  return { op: 'aten::batch_norm', args: [...args.slice(0, 5), constant(false), args[momentum]!, args[momentum + 1]!, constant(true)] }
}

/** True for a node whose result and tensor arguments are dense float32. */
function isDense(node: GraphNode, analysis: Analysis): boolean {
  const ids = [onlyOrFirst(node), ...node.args.map(valueArg)]
  return ids.every((id) => id === undefined || isDenseFloat(analysis.type(id)))
}

/** The first result of a node. */
function onlyOrFirst({ results: [first] }: GraphNode): ValueId | undefined {
  return first?.kind === 'value' ? first.id : undefined
}

/** A node in front of `node`, with a result of the same type. */
function stepBefore(node: GraphNode, op: string, args: readonly Arg[], analysis: Analysis, editor: Editor): [GraphNode, Arg] {
  const id = editor.newValue(analysis.type(onlyOrFirst(node)!))
  return [{ op, args, results: [{ kind: 'value', id }], writes: [], origin: node.origin }, value(id)]
}

/** prelu with one constant slope. */
function oneSlope({ args }: GraphNode, analysis: Analysis): Canonical | null {
  const [x, slope] = args.map(valueArg)
  const tensor = slope === undefined ? undefined : analysis.tensor(slope)
  if (x === undefined || tensor?.numel !== 1 || tensor.type !== DType.float32) return null
  return { op: 'aten::leaky_relu', args: [args[0]!, constant(new Float(Number(readTensor(tensor)[0])))] }
}

/** exp(x inputScale) - 1, times alpha, below 0; all times scale. In steps: x inputScale, elu, and a factor. */
function eluSteps(node: GraphNode, alpha: number, scale: number, inputScale: number, analysis: Analysis, editor: Editor): Canonical | null {
  if (!isDense(node, analysis) || (scale === 1 && inputScale === 1 && node.op === 'aten::elu')) return null
  const before: GraphNode[] = []
  let x = node.args[0]!
  const add = (op: string, args: readonly Arg[]): void => {
    const [step, result] = stepBefore(node, op, args, analysis, editor)
    before.push(step)
    x = result
  }
  const one = constant(1)
  const number = (v: number): Arg => constant(new Float(v))
  const curve = (): readonly Arg[] => [x, number(alpha * inputScale), one, one]
  if (inputScale !== 1) add('aten::mul.Scalar', [x, number(inputScale)])
  if (scale === inputScale) return { op: 'aten::elu', args: curve(), before }
  add('aten::elu', curve())
  return { op: 'aten::mul.Scalar', args: [x, number(scale / inputScale)], before }
}

function celu(node: GraphNode, analysis: Analysis, editor: Editor): Canonical | null {
  const alpha = numberArg(node.args[1])
  return alpha === undefined || !(alpha > 0) || !Number.isFinite(1 / alpha) ? null : eluSteps(node, alpha, 1, 1 / alpha, analysis, editor)
}

function elu(node: GraphNode, analysis: Analysis, editor: Editor): Canonical | null {
  const [alpha, scale, inputScale] = [1, 2, 3].map((i) => numberArg(node.args[i]))
  const usual = [alpha, scale, inputScale].every((v) => v !== undefined && v > 0 && Number.isFinite(v))
  return usual ? eluSteps(node, alpha!, scale!, inputScale!, analysis, editor) : null
}

/** -softplus(-x). */
function logSigmoid(node: GraphNode, analysis: Analysis, editor: Editor): Canonical | null {
  if (!isDense(node, analysis)) return null
  const [negated, x] = stepBefore(node, 'aten::neg', [node.args[0]!], analysis, editor)
  const [curve, y] = stepBefore(node, 'aten::softplus', [x, constant(1), constant(20)], analysis, editor)
  return { op: 'aten::neg', args: [y], before: [negated, curve] }
}

/** x + value a b, or x + value a / b, where a product of this shape is dense, or lies in memory as the factor of this shape does. */
function productAdded(node: GraphNode, analysis: Analysis, editor: Editor): Canonical | null {
  const [x, a, b, factor] = node.args as readonly [Arg, Arg, Arg, Arg]
  const { dtype, shape, strides } = analysis.type(onlyOrFirst(node)!)
  const full = [a, b].map(valueArg).filter((id) => id !== undefined && sameShape(analysis.type(id).shape, shape)) as ValueId[]
  const isAlike = (arg: Arg): boolean => valueArg(arg) !== undefined && analysis.type(valueArg(arg)!).dtype === DType.float32
  const keepsOrder =
    dtype === DType.float32 && [x, a, b].every(isAlike) && full.every((id) => sameShape(analysis.type(id).strides, strides))
  if (numberArg(factor) !== 1 || !(isDense(node, analysis) || keepsOrder) || full.length === 0) return null
  const op = node.op === 'aten::addcmul' ? 'aten::mul.Tensor' : 'aten::div.Tensor'
  const [product, y] = stepBefore(node, op, [a, b], analysis, editor)
  return { op: 'aten::add.Tensor', args: [x, y, constant(1)], before: [product] }
}

/** A clamp to 0 and 6. */
function relu6({ args }: GraphNode): Canonical | null {
  return numberArg(args[1]) === 0 && numberArg(args[2]) === 6 ? { op: 'aten::relu6', args: [args[0]!] } : null
}

/** Arithmetic with a constant of no dimensions, which has no say in the dtype. */
function withNumber(node: GraphNode, analysis: Analysis): Canonical | null {
  const { op, args } = node
  const result = onlyResult(node)
  const commutes = op === 'aten::add.Tensor' || op === 'aten::mul.Tensor'
  const [a, b, alpha] = args as [Arg, Arg, Arg | undefined]
  for (const [tensor, number] of [
    [a, b] as const,
    ...(commutes && (alpha === undefined || numberArg(alpha) === 1) ? [[b, a] as const] : []),
  ]) {
    const id = valueArg(tensor)
    const found = numberOf(number, analysis)
    if (id === undefined || found === null || result === undefined || analysis.type(result).dtype !== DType.float32) continue
    const type = analysis.type(id)
    if (type.dtype !== DType.float32 || type.shape.length === 0) continue
    return { op: op.replace('.Tensor', '.Scalar'), args: [tensor, constant(found), ...args.slice(2)] }
  }
  return null
}

function numberOf(arg: Arg, analysis: Analysis): Float | null {
  const id = valueArg(arg)
  const tensor = id === undefined ? undefined : analysis.tensor(id)
  if (tensor?.dim !== 0 || (tensor.type !== DType.float32 && tensor.type !== DType.float64)) return null
  return new Float(Number(readTensor(tensor)[0]))
}

function withoutCast({ op, args }: GraphNode, analysis: Analysis): Canonical | null {
  const id = valueArg(args[0])
  if (id === undefined || isNone(args[2]) || numberArg(args[2]) !== analysis.type(id).dtype) return null
  return { op, args: [args[0]!, args[1]!, NONE] }
}

/** Parameters of a quantization that are constant tensors, as numbers. */
function quantizedByNumbers({ args }: GraphNode, analysis: Analysis): Canonical | null {
  const [x, scale, zeroPoint, dtype] = args as readonly [Arg, Arg, Arg, Arg]
  const [s, z] = [scale, zeroPoint].map((arg) => {
    const id = valueArg(arg)
    const tensor = id === undefined ? undefined : analysis.tensor(id)
    return tensor?.numel === 1 ? scalarToNumber(itemOf(tensor)) : undefined
  })
  return s === undefined || z === undefined
    ? null
    : { op: 'aten::quantize_per_tensor', args: [x, constant(new Float(s)), constant(z), dtype] }
}
