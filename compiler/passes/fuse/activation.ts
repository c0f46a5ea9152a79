import { DType } from '../../../runtime/tensor/dtype.js'
import { named } from '../../graph/arguments.js'
import type { Clamp } from '../../graph/fields.js'
import type { Arg, Graph, GraphNode, OperatorNode } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, isNone, numberArg, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import { asConvolution, asLinear, clampTo } from '../layers.js'
import { type Pass, untilStable } from '../pass.js'

/**
 * Moves relu, relu6 and clamps into the convolution or linear layer before them, whose kernels clamp while
 * results are still in registers.
 *
 *     %3 = aten::conv2d(%0, %1, %2, [1, 1], ...)
 *     %4 = aten::relu(%3)                          →   %4 = convolution(input=%0, filter=%1, bias=%2, ..., clamp=[0., inf])
 */
export const activation: Pass = {
  name: 'activation',
  // a clamp behind a clamp needs a second round
  run: untilStable(foldOnce),
}

function foldOnce(graph: Graph): Graph {
  const analysis = analysisOf(graph)
  const editor = new Editor(graph)
  const taken = new Set<GraphNode>()
  for (const node of operatorsOf(graph)) {
    const bounds = boundsOf(node)
    const input = inputOf(node)
    if (bounds === null || input === undefined || onlyResult(node) === undefined) continue
    const producer = analysis.producer(input)
    if (producer === undefined || taken.has(producer) || taken.has(node) || analysis.onlyReader(input) !== node) continue
    if (!analysis.isPure(producer) || !analysis.isPure(node)) continue
    const layer = analysis.type(input).dtype === DType.float32 ? clamped(producer, bounds, analysis) : null
    if (layer === null) continue
    taken.add(producer).add(node)
    editor.replaceNode(producer, [])
    editor.replaceNode(node, [{ ...layer, results: node.results }])
  }
  return taken.size === 0 ? graph : editor.finish()
}

/** Bounds that an operator puts on its argument. NaN passes through all of them, and through the kernels. */
function boundsOf(node: OperatorNode): Clamp | null {
  const bound = (arg: Arg | undefined, none: number): number | undefined => (isNone(arg) ? none : numberArg(arg))
  const range = (min: number | undefined, max: number | undefined): Clamp | null =>
    min === undefined || max === undefined || Number.isNaN(min) || Number.isNaN(max) || min > max ? null : { min, max }
  switch (node.op) {
    case 'aten::relu':
      return { min: 0, max: Infinity }
    case 'aten::relu6':
      return { min: 0, max: 6 }
    case 'aten::clamp':
      return range(bound(named(node, 'min'), -Infinity), bound(named(node, 'max'), Infinity))
    case 'aten::clamp_min':
      return range(numberArg(named(node, 'min')), Infinity)
    case 'aten::clamp_max':
      return range(-Infinity, numberArg(named(node, 'max')))
    default:
      return null
  }
}

/** The layer with bounds on its result; null for nodes whose kernels cannot clamp. */
function clamped(node: GraphNode, bounds: Clamp, analysis: Analysis): GraphNode | null {
  const layer = asConvolution(node, analysis) ?? asLinear(node, analysis)
  const fits = layer !== null && layer.post === null && (layer.kind === 'linear' ? layer.form === 'dense' : layer.strategy !== 'sparse')
  return fits ? { ...layer, clamp: clampTo(layer.clamp, bounds) } : null
}
