import { DType } from '../../runtime/tensor/dtype.js'
import { contiguousStrides, sameShape } from '../../runtime/tensor/shape.js'
import { type Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import { type Arg, constant, type GraphNode, value, type ValueId } from '../graph/graph.js'
import { Analysis, integersArg, isDenseFloat, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/** Linear layers that do the same, by convolution. */
const LINEAR: Readonly<Record<string, string>> = {
  'aten::conv1d': 'aten::linear',
  'aten::conv2d': 'aten::linear',
  'aten::conv3d': 'aten::linear',
  'ptlite::convolution': 'ptlite::linear',
  'ptlite::convolution_post': 'ptlite::linear_post',
}
/** Arguments of a convolution up to its groups; limits and steps follow. */
const SETTINGS = 7
/** Where steps have their operands. */
const OPERANDS = 9

/**
 * A convolution whose filters are as large as the image is a linear layer of its elements, as in a classifier behind the mean over pixels:
 * its kernel reads each weight once, in the order in which it lies.
 *
 *     %3: float32[1, 960, 1, 1]                               %6 = aten::view(%3, [1, 960])
 *     %4 = aten::conv2d(%3, %1, %2, [1, 1], [0, 0], ...)  →   %7 = aten::linear(%6, %5, %2)
 *                                                             %4 = aten::view(%7, [1, 1280, 1, 1])
 */
export const singleWindows: Pass = {
  name: 'single windows',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const weight = node.op in LINEAR ? windowOf(node, analysis) : null
      if (weight === null) continue
      rewrite(node, weight, analysis, editor)
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** The constant filters of a float32 convolution in one group that see the whole image; null for any other node. */
function windowOf(node: GraphNode, analysis: Analysis): Tensor | null {
  const { args } = node
  const [input, result] = [valueArg(args[0]), onlyResult(node)]
  const weight = analysis.tensor(valueArg(args[1]) ?? -1)
  if (input === undefined || result === undefined || weight?.type !== DType.float32 || !weight.isContiguous || !analysis.isPure(node))
    return null
  const { shape } = analysis.type(input)
  const whole = shape.length >= weight.dim - 1 && sameShape(shape.slice(1 - weight.dim), weight.shape.slice(1))
  const fits = whole && numberArg(args[6]) === 1 && integersArg(args[4])?.every((size) => size === 0) === true
  if (!fits || shape.includes(0) || weight.numel === 0 || ![input, result].every((id) => isDenseFloat(analysis.type(id)))) return null
  // operands of steps would need views, too
  const operands = args[OPERANDS]
  const count = operands?.kind === 'list' ? operands.items.length : (integersArg(operands)?.length ?? 0)
  return count === 0 ? weight : null
}

function rewrite(node: GraphNode, weight: Tensor, analysis: Analysis, editor: Editor): void {
  const [input, filter, bias] = node.args as [Arg, Arg, Arg]
  const [x, w, result] = [valueArg(input)!, valueArg(filter)!, onlyResult(node)!]
  const [outputs] = weight.shape as [number]
  const inputs = weight.numel / outputs
  const type = analysis.type(result)
  const batch = type.shape.length === weight.dim ? type.shape[0]! : 1
  const { name } = analysis.graph.constants.find((c) => c.id === w)!
  const matrix = editor.addConstant(viewOf(weight, [outputs, inputs], [inputs, 1]), `${name} as a matrix`)
  const rows = (of: ValueId, shape: number[]): ValueId =>
    editor.newValue({ ...analysis.type(of), shape, strides: contiguousStrides(shape) }, analysis.storage(of))
  const flat = rows(x, [batch, inputs])
  const made = rows(result, [batch, outputs])
  const view = (from: ValueId, to: ValueId, shape: readonly number[]): GraphNode => ({
    ...node,
    op: 'aten::view',
    args: [value(from), constant([...shape])],
    results: [{ kind: 'value', id: to }],
  })
  const args = [value(flat), value(matrix), bias, ...node.args.slice(SETTINGS)]
  editor.replaceNode(node, [
    view(x, flat, [batch, inputs]),
    { ...node, op: LINEAR[node.op]!, args, results: [{ kind: 'value', id: made }] },
    view(made, result, type.shape),
  ])
}
