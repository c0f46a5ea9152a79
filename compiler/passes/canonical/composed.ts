import { findOperator } from '../../../runtime/operators/table/registry.js'
import { isDense } from '../../../runtime/tensor/view-strides.js'
import { isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'
import { COMPOSED_FORMS, type Composed } from './composed-table.js'
import { matchOf } from './pattern.js'

/**
 * Recognises operators that are written out: silu, hardswish, gelu, softmax and whatever else COMPOSED_FORMS has a row for.
 *
 *     %1 = aten::add.Scalar(%0, 3, 1)
 *     %2 = aten::relu6(%1)
 *     %3 = aten::mul.Tensor(%0, %2)
 *     %4 = aten::div.Scalar(%3, 6)           →   %4 = aten::hardswish(%0)
 */
export const composed: Pass = {
  name: 'composed operators',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const made = composedOf(node, analysis)
      if (made === null) continue
      editor.replaceNode(node, [made])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function composedOf(node: OperatorNode, analysis: Analysis): OperatorNode | null {
  if (!analysis.isPure(node)) return null
  for (const form of COMPOSED_FORMS) {
    const match = matchOf(node, form.pattern, analysis)
    if (match === null || node.op === form.op || findOperator(form.op) === undefined) continue
    const input = match.value('x')
    if (canStandFor(input, node, form, analysis)) return { ...node, op: form.op, args: [value(input), ...(form.args?.(match) ?? [])] }
  }
  return null
}

/** True where an operator on the input gives float32 results of the shape and layout that the node has. */
function canStandFor(input: ValueId, node: OperatorNode, { pointwise }: Composed, analysis: Analysis): boolean {
  const [a, b] = [analysis.type(input), analysis.type(onlyResult(node)!)]
  if (a.dtype !== DType.float32 || b.dtype !== DType.float32 || !sameShape(a.shape, b.shape) || !analysis.isSteady(input)) return false
  if ([a, b].every(({ shape, strides }) => isContiguous(shape, strides))) return true
  return pointwise && sameShape(a.strides, b.strides) && isDense(a.shape, a.strides)
}
