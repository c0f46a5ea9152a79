import { findOperator } from '../../../runtime/operators/table/registry.js'
import type { OperatorNode } from '../../graph/graph.js'
import { type Analysis, analysisOf, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'
import { CANONICAL_FORMS } from './table.js'

/**
 * Brings the spellings of an operator to one, which is all that later passes know: convolutions of every kind under the names of
 * torch.nn.functional, batch norms of fixed statistics, numbers that are tensors, products and `einsum` as `matmul`, transpositions as
 * `permute`, and whatever else only changes the shape as `reshape`.
 *
 *     %3 = aten::_convolution(%0, %1, %2, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, ...)        %3 = aten::conv2d(%0, %1, %2, [1, 1], ...)
 *     %4, _, _ = aten::native_batch_norm(%3, ..., False, 0.1, 1e-05)                      →   %4 = aten::batch_norm(%3, ..., False, 0.1, 1e-05, True)
 *     %8 = aten::mul.Tensor(%4, %7)                             (%7: float64[], constant)       %8 = aten::mul.Scalar(%4, 0.125)
 *     %9 = aten::flatten.using_ints(%8, 1, -1)                                                  %9 = aten::reshape(%8, [1, 4096])
 *
 * CANONICAL_FORMS has a row for each spelling. An operator whose other results nobody reads may become one with a single result. What
 * this build lacks an operator for stays as it is.
 */
export const canonical: Pass = {
  name: 'canonical',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const form = hasOneResult(node, analysis) ? CANONICAL_FORMS.get(node.op) : undefined
      const found = form?.(node, analysis, editor) ?? null
      if (found === null) continue
      const { op, args, before = [] } = found
      const made: OperatorNode = { ...node, op, args, results: [node.results[0]!] }
      if (![...before, made].every((part) => findOperator(part.op) !== undefined)) continue
      editor.replaceNode(node, [...before, made])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** True where nothing is written and all results but the first are neither read nor returned. */
function hasOneResult(node: OperatorNode, analysis: Analysis): boolean {
  const [first, ...others] = node.results
  if (first === undefined || first.kind === 'ignored' || node.writes.length > 0) return false
  return others.every(
    (r) => r.kind === 'ignored' || (r.kind === 'value' && analysis.readersOf(r.id).length === 0 && !analysis.isReturned(r.id)),
  )
}
