import { DType } from '../../runtime/tensor/dtype.js'
import { readTensor } from '../../runtime/tensor/data.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { type Arg, constant, type GraphNode, NONE } from '../graph/graph.js'
import { Analysis, integersArg, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/**
 * Turns operators as tracing writes them into those that later passes know: convolutions of every kind under one name, numbers that are
 * tensors, a softmax that casts to the dtype it has.
 *
 *     %3 = aten::_convolution(%0, %1, %2, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, ...)        %3 = aten::conv2d(%0, %1, %2, [1, 1], ...)
 *     %5 = aten::mul.Tensor(%3, %4)                             (%4: float64[], constant)   →   %5 = aten::mul.Scalar(%3, 0.125)
 *     %6 = aten::softmax.int(%5, -1, 6)                                                         %6 = aten::softmax.int(%5, -1, None)
 */
export const spellings: Pass = {
  name: 'spellings',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const usual = onlyResult(node) === undefined ? null : usualSpelling(node, analysis)
      if (usual === null) continue
      editor.replaceNode(node, [{ ...node, ...usual }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

type Spelling = Pick<GraphNode, 'op' | 'args'>

function usualSpelling(node: GraphNode, analysis: Analysis): Spelling | null {
  switch (node.op) {
    case 'aten::_convolution':
    case 'aten::_convolution.deprecated':
    case 'aten::convolution':
      return convolution(node, analysis)
    case 'aten::add.Tensor':
    case 'aten::sub.Tensor':
    case 'aten::mul.Tensor':
    case 'aten::div.Tensor':
      return withNumber(node, analysis)
    case 'aten::softmax.int':
      return withoutCast(node, analysis)
    default:
      return null
  }
}

/** Of batches, not transposed: `conv1d` to `conv3d`. */
function convolution({ args }: GraphNode, analysis: Analysis): Spelling | null {
  const [input, weight, bias, stride, padding, dilation, transposed, , groups] = args as [Arg, Arg, Arg, Arg, Arg, Arg, Arg, Arg, Arg]
  const [x, w] = [valueArg(input), valueArg(weight)]
  if (x === undefined || w === undefined || transposed.kind !== 'constant' || transposed.value !== false) return null
  const rank = analysis.type(w).shape.length
  const dims = rank - 2
  if (dims < 1 || dims > 3 || analysis.type(x).shape.length !== rank) return null
  if ([stride, padding, dilation].some((list) => integersArg(list)?.length !== dims)) return null
  return { op: `aten::conv${dims}d`, args: [input, weight, bias, stride, padding, dilation, groups] }
}

/** Arithmetic with a constant of no dimensions, which has no say in the dtype. */
function withNumber({ op, args, results }: GraphNode, analysis: Analysis): Spelling | null {
  const result = results[0]!.kind === 'value' ? analysis.type(results[0]!.id) : undefined
  const commutes = op === 'aten::add.Tensor' || op === 'aten::mul.Tensor'
  const [a, b, alpha] = args as [Arg, Arg, Arg | undefined]
  for (const [tensor, number] of [
    [a, b] as const,
    ...(commutes && (alpha === undefined || numberArg(alpha) === 1) ? [[b, a] as const] : []),
  ]) {
    const id = valueArg(tensor)
    const found = numberOf(number, analysis)
    if (id === undefined || found === null || result?.dtype !== DType.float32) continue
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

function withoutCast({ op, args }: GraphNode, analysis: Analysis): Spelling | null {
  const id = valueArg(args[0])
  if (id === undefined || isNone(args[2]) || numberArg(args[2]) !== analysis.type(id).dtype) return null
  return { op, args: [args[0]!, args[1]!, NONE] }
}
