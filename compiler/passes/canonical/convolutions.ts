import { contiguousStrides } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, integersArg, valueArg } from '../analysis.js'
import type { Editor } from '../editor.js'
import type { Canonical } from './form.js'

/* Convolutions of every kind under the names of torch.nn.functional. */

/** No dilation, in as many dimensions as there are. */
export const ONES = constant([1])

/** Of batches: `conv1d` to `conv3d`, and `conv_transpose1d` to `conv_transpose3d`. */
export function convolution({ args }: OperatorNode, analysis: Analysis): Canonical | null {
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
export function paddedByName({ args, origin }: OperatorNode, dims: number, analysis: Analysis, editor: Editor): Canonical | null {
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
  const pad: OperatorNode = {
    kind: 'operator',
    op: 'aten::constant_pad_nd',
    args: [input, pads, constant(0)],
    results: [{ kind: 'value', id: padded }],
    writes: [],
    origin,
  }
  return { op, args: [value(padded), weight, bias, stride, padding, dilation, groups], before: [pad] }
}

/** The same, whose number of dimensions is that of the weight. */
export function convolutionMode(node: OperatorNode, analysis: Analysis, editor: Editor): Canonical | null {
  const w = valueArg(named(node, 'weight'))
  const dims = w === undefined ? 0 : analysis.type(w).shape.length - 2
  return dims >= 1 && dims <= 3 ? paddedByName(node, dims, analysis, editor) : null
}

function paddedBehind(x: ValueId, behind: readonly number[], analysis: Analysis, editor: Editor): ValueId {
  const type = analysis.type(x)
  const shape = type.shape.map((n, d) => n + (behind[d - 2] ?? 0))
  return editor.newValue({ ...type, shape, strides: contiguousStrides(shape), offset: 0 })
}

/** (input, weight, kernel size, bias, stride, padding). */
export function ofKernelSize({ args }: OperatorNode, dims: number, dilation: Arg): Canonical | null {
  const [input, weight, , bias, stride, padding] = args as readonly [Arg, Arg, Arg, Arg, Arg, Arg]
  return { op: `aten::conv${dims}d`, args: [input, weight, bias, stride, padding, dilation, constant(1)] }
}

/** The same with a dilation, one filter or more for each channel. */
export function depthwise(node: OperatorNode, dims: number, analysis: Analysis): Canonical | null {
  const x = inputOf(node)
  const channels = x === undefined ? undefined : analysis.type(x).shape[1]
  const form = ofKernelSize(node, dims, named(node, 'dilation'))
  if (form === null || channels === undefined || analysis.type(x!).shape.length !== dims + 2) return null
  return { ...form, args: [...form.args.slice(0, -1), constant(channels)] }
}

/** (input, weight, kernel size, bias, stride, padding, output padding, dilation). */
export function transposedOfKernelSize({ args }: OperatorNode, dims: number): Canonical | null {
  const [input, weight, , bias, stride, padding, outputPadding, dilation] = args as readonly [Arg, Arg, Arg, Arg, Arg, Arg, Arg, Arg]
  return { op: transposedName(dims), args: [input, weight, bias, stride, padding, outputPadding, constant(1), dilation] }
}

/** (input, weight, bias, padding, stride). */
export function nnpack({ args }: OperatorNode): Canonical | null {
  const [input, weight, bias, padding, stride] = args as readonly [Arg, Arg, Arg, Arg, Arg]
  return { op: 'aten::conv2d', args: [input, weight, bias, stride, padding, ONES, constant(1)] }
}
