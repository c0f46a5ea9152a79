import { isContiguous, sameShape } from '../../../runtime/tensor/shape.js'
import type { OperatorNode, TensorType, ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, onlyResult, operatorsOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/** Operators that copy their first argument, changing at most its dtype or layout. */
const COPIES = new Set([
  'aten::contiguous',
  'aten::clone',
  'aten::to.dtype',
  'aten::to.dtype_layout',
  'aten::to.device',
  'aten::to.other',
  'aten::detach',
  'aten::alias',
  'aten::detach_copy',
  'aten::alias_copy',
  'aten::dropout',
  'aten::feature_dropout',
  'aten::identity',
  'aten::_to_copy',
])

/**
 * Leaves out copies and casts of a tensor that has the wanted dtype and layout already, whose memory nobody writes to: clones,
 * detached tensors, dropout outside of training.
 *
 *     %1: float32[8] @1 = aten::clone(%0, None)
 *     %2: float32[8] @2 = aten::relu(%1)           →   %2: float32[8] @2 = aten::relu(%0)
 *
 * An output stays a tensor of its own.
 */
export const copies: Pass = {
  name: 'redundant copies',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      if (!isRedundant(node, analysis)) continue
      editor.replaceValue(onlyResult(node)!, inputOf(node)!)
      editor.replaceNode(node, [])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function isRedundant(node: OperatorNode, analysis: Analysis): boolean {
  const from = inputOf(node)
  return COPIES.has(node.op) && from !== undefined && canStandFor(from, node, analysis)
}

/** True where a value may be read in place of a node's result: that is no output, nor looked at through views, and has the same layout. */
export function canStandFor(from: ValueId, node: OperatorNode, analysis: Analysis): boolean {
  const to = onlyResult(node)
  if (to === undefined || !analysis.isPure(node) || !analysis.isSteady(from)) return false
  // views made of the copy move to the memory of the original: neither may be what an output lies in
  if (analysis.outputs.has(analysis.storage(to)) || hasViews(to, analysis)) return false
  return sameLayout(analysis.type(from), analysis.type(to))
}

/** True where other values show the memory of a value. */
export function hasViews(id: ValueId, analysis: Analysis): boolean {
  return analysis.valuesIn(analysis.storage(id)).length > 1
}

function sameLayout(a: TensorType, b: TensorType): boolean {
  if (a.dtype !== b.dtype || !sameShape(a.shape, b.shape) || JSON.stringify(a.quant) !== JSON.stringify(b.quant)) return false
  return sameShape(a.strides, b.strides) || (isContiguous(a.shape, a.strides) && isContiguous(b.shape, b.strides))
}
