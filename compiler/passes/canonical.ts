import type { GraphNode } from '../graph/graph.js'
import { Analysis } from './analysis.js'
import { CANONICAL_FORMS } from './canonical-forms.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/**
 * Brings the spellings of an operator to one, which is all that later passes know: convolutions of every kind under the names of
 * torch.nn.functional, batch norms of fixed statistics, numbers that are tensors, a softmax that casts to the dtype it has.
 *
 *     %3 = aten::_convolution(%0, %1, %2, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, ...)        %3 = aten::conv2d(%0, %1, %2, [1, 1], ...)
 *     %4, _, _ = aten::native_batch_norm(%3, ..., False, 0.1, 1e-05)                      →   %4 = aten::batch_norm(%3, ..., False, 0.1, 1e-05, True)
 *     %8 = aten::mul.Tensor(%4, %7)                             (%7: float64[], constant)       %8 = aten::mul.Scalar(%4, 0.125)
 *
 * CANONICAL_FORMS has a row for each spelling. An operator whose other results nobody reads may become one with a single result.
 */
export const canonical: Pass = {
  name: 'canonical',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const form = CANONICAL_FORMS.get(node.op)
      if (form === undefined || !hasOneResult(node, analysis)) continue
      const found = form(node, analysis, editor)
      if (found === null) continue
      const { op, args, before = [] } = found
      editor.replaceNode(node, [...before, { ...node, op, args, results: [node.results[0]!] }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** True where nothing is written and all results but the first are neither read nor returned. */
function hasOneResult(node: GraphNode, analysis: Analysis): boolean {
  const [first, ...others] = node.results
  if (first?.kind !== 'value' || node.writes.length > 0) return false
  return others.every(
    (r) => r.kind === 'ignored' || (r.kind === 'value' && analysis.readersOf(r.id).length === 0 && !analysis.isReturned(r.id)),
  )
}
