import { DType } from '../../runtime/tensor/dtype.js'
import { readTensor } from '../../runtime/tensor/data.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { contiguousStrides } from '../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, NONE, value, type ValueId } from '../graph/graph.js'
import { type Analysis, integersArg, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
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
  ...['native_batch_norm', '_batch_norm_impl_index'].map((name): [string, Form] => [
    `aten::${name}`,
    (node) => (isFalse(node.args[5]) ? batchNorm(node, 6) : null),
  ]),
  ...['_native_batch_norm_legit_no_training', '_batch_norm_no_update'].map((name): [string, Form] => [
    `aten::${name}`,
    (node) => batchNorm(node, 5),
  ]),
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
