import { constant, type GraphNode, NONE, value, type ValueId } from '../graph/graph.js'
import { Analysis, integersArg, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { madeBy, replacesDense } from './expression.js'
import type { Pass } from './pass.js'

/**
 * Recognises softmax written out. The maximum has to be subtracted: without it large numbers would give another result.
 *
 *     %1 = aten::amax(%0, [-1], True)
 *     %2 = aten::sub.Tensor(%0, %1, 1)
 *     %3 = aten::exp(%2)
 *     %4 = aten::sum.dim_IntList(%3, [-1], True, None)
 *     %5 = aten::div.Tensor(%3, %4)                        →   %5 = aten::softmax.int(%0, -1, None)
 */
export const softmax: Pass = {
  name: 'softmax',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const found = softmaxOf(node, analysis)
      if (found === null || !replacesDense(node, found.input, analysis)) continue
      editor.replaceNode(node, [{ ...node, op: 'aten::softmax.int', args: [value(found.input), constant(found.dim), NONE] }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function softmaxOf(node: GraphNode, analysis: Analysis): { input: ValueId; dim: number } | null {
  if (node.op !== 'aten::div.Tensor' || onlyResult(node) === undefined) return null
  const exp = madeBy(node.args[0], analysis)
  const sum = madeBy(node.args[1], analysis)
  if (exp?.op !== 'aten::exp' || sum?.op !== 'aten::sum.dim_IntList' || valueArg(sum.args[0]) !== valueArg(node.args[0])) return null
  const shifted = madeBy(exp.args[0], analysis)
  if (shifted?.op !== 'aten::sub.Tensor' || numberArg(shifted.args[2]) !== 1) return null
  const input = valueArg(shifted.args[0])
  const top = madeBy(shifted.args[1], analysis)
  if (input === undefined || top === undefined || valueArg(top.args[0]) !== input) return null
  const rank = analysis.type(input).shape.length
  const dim = keptDim(sum, rank)
  return dim !== null && isMaximum(top, shifted.args[1]!, dim, rank) ? { input, dim } : null
}

/** The one dimension, counted from the front, that a reduction goes over and keeps. */
function keptDim({ args }: GraphNode, rank: number): number | null {
  const dims = integersArg(args[1])
  if (dims?.length !== 1 || args[2]?.kind !== 'constant' || args[2].value !== true) return null
  return dims[0]! < 0 ? dims[0]! + rank : dims[0]!
}

function isMaximum(node: GraphNode, result: GraphNode['args'][number], dim: number, rank: number): boolean {
  if (node.op === 'aten::amax') return keptDim(node, rank) === dim
  const [, over, keep] = node.args
  const given = numberArg(over)
  const [values] = node.results
  return (
    node.op === 'aten::max.dim' &&
    given !== undefined &&
    (given < 0 ? given + rank : given) === dim &&
    keep?.kind === 'constant' &&
    keep.value === true &&
    values?.kind === 'value' &&
    values.id === valueArg(result)
  )
}
