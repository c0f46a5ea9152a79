import { isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { type Tensor, viewOf } from '../../../runtime/tensor/tensor.js'
import type { ConvolutionNode } from '../../graph/compiled.js'
import { constant, type GraphNode, value, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { floatWeight } from '../../graph/packed-weight.js'
import { type Analysis, analysisOf, isDenseFloat, onlyResult } from '../analysis.js'
import { Editor } from '../editor.js'
import { asConvolution } from '../layers.js'
import type { Pass } from '../pass.js'

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
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const layer = asConvolution(node, analysis)
      const weight = layer === null ? null : windowOf(node, layer, analysis)
      if (weight === null) continue
      rewrite(node, layer!, weight, analysis, editor)
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** The constant filters of a float32 convolution in one group that see the whole image; null for any other node. */
function windowOf(
  node: GraphNode,
  { input, filter, layout, strategy, groups, padding, post }: ConvolutionNode,
  analysis: Analysis,
): Tensor | null {
  const result = onlyResult(node)
  const weight = analysis.tensor(filter.values)
  if (layout !== 'planes' || strategy !== 'product' || result === undefined || !analysis.isPure(node)) return null
  if (weight?.type !== DType.float32 || !weight.isContiguous) return null
  // whose rows have taps first
  if (isRoundedFilter(weight, groups) && numelOf(weight.shape.slice(2)) > 1) return null
  const { shape } = analysis.type(input)
  const whole = shape.length >= weight.dim - 1 && sameShape(shape.slice(1 - weight.dim), weight.shape.slice(1))
  const fits = whole && groups === 1 && padding.every((size) => size === 0)
  if (!fits || shape.includes(0) || weight.numel === 0 || ![input, result].every((id) => isDenseFloat(analysis.type(id)))) return null
  // operands of steps would need views, too
  return post === null || post.operands.length === 0 ? weight : null
}

function rewrite(node: GraphNode, layer: ConvolutionNode, weight: Tensor, analysis: Analysis, editor: Editor): void {
  const { input, filter, bias, clamp, post } = layer
  const result = onlyResult(node)!
  const [outputs] = weight.shape as [number]
  const inputs = weight.numel / outputs
  const type = analysis.type(result)
  const batch = type.shape.length === weight.dim ? type.shape[0]! : 1
  const name = analysis.nameOf(filter.values)
  const matrix = editor.addConstant(viewOf(weight, [outputs, inputs], [inputs, 1]), `${name} as a matrix`)
  const rows = (of: ValueId, shape: number[]): ValueId =>
    editor.newValue({ ...analysis.type(of), shape, strides: contiguousStrides(shape) }, analysis.storage(of))
  const flat = rows(input, [batch, inputs])
  const made = rows(result, [batch, outputs])
  const base = baseOf(node)
  const view = (from: ValueId, to: ValueId, shape: readonly number[]): GraphNode => ({
    ...base,
    kind: 'operator',
    op: 'aten::view',
    args: [value(from), constant([...shape])],
    results: [{ kind: 'value', id: to }],
  })
  editor.replaceNode(node, [
    view(input, flat, [batch, inputs]),
    {
      ...base,
      kind: 'linear',
      input: flat,
      weight: floatWeight(matrix),
      bias,
      form: 'dense',
      clamp,
      post,
      results: [{ kind: 'value', id: made }],
    },
    view(made, result, type.shape),
  ])
}
