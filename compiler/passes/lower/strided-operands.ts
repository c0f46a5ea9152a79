import type { GraphNode, OperatorNode, ValueId } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf, onlyResult, operatorsOf } from '../analysis.js'
import { isCopying } from '../fuse/attention-rows.js'
import { hasViews } from '../canonical/copies.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/** Operands that kernels read by rows which may lie anywhere, whatever layout they have; the result does not depend on it. */
function readByRows(node: GraphNode): readonly ValueId[] {
  if (node.kind === 'attention') return [node.query, node.key, node.value]
  return node.kind === 'rotary' ? [node.input] : []
}

/**
 * Leaves out copies that give a permuted tensor a dense layout for a kernel that reads it where it lies.
 *
 *     %2: float32[1, 8, 100, 32] strides [25600, 32, 256, 1] @0 = aten::permute(%1, [0, 2, 1, 3])
 *     %3: float32[1, 8, 100, 32] @3 = aten::contiguous(%2, 0)
 *     %6 = attention(query=%3, ...)                                  →   %6 = attention(query=%2, ...)
 */
export const stridedOperands: Pass = {
  name: 'strided operands',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const source = isCopying(node) ? sourceOf(node, analysis) : undefined
      if (source === undefined) continue
      editor.replaceValue(onlyResult(node)!, source)
      editor.replaceNode(node, [])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** What a copy may be replaced by for all that reads it. */
function sourceOf(node: OperatorNode, analysis: Analysis): ValueId | undefined {
  const [copy, source] = [onlyResult(node), inputOf(node)]
  if (copy === undefined || source === undefined || !analysis.isPure(node)) return undefined
  const storage = analysis.storage(copy)
  if (storage === analysis.storage(source) || analysis.outputs.has(storage) || hasViews(copy, analysis)) return undefined
  const [from, to] = [analysis.type(source), analysis.type(copy)]
  const sameElements = from.dtype === to.dtype && from.shape.length === to.shape.length && from.shape.every((n, d) => n === to.shape[d])
  const readers = analysis.readersOf(copy)
  const placesIn = (ids: readonly ValueId[]): number => ids.filter((id) => id === copy).length
  const byRows = readers.every((reader) => placesIn(readByRows(reader)) === placesIn(usesOf(reader)))
  return sameElements && from.strides.at(-1) === 1 && readers.length > 0 && byRows ? source : undefined
}
