import { sameLayout } from '../../../runtime/tensor/shape.js'
import { definitionsOf, type Graph, type GraphNode, type TensorType, type ValueId } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/**
 * Replaces views of memory that an earlier value shows in the same way: views of the whole, a permutation and its inverse, a
 * reshape back, the same slice twice.
 *
 *     %1: float32[4, 8] strides [1, 4] @0 = aten::t(%0)
 *     %2: float32[8, 4] @0 = aten::t(%1)                    %3: float32[8, 4] @1 = aten::relu(%0)
 *     %3: float32[8, 4] @1 = aten::relu(%2)            →
 *
 * An output stays a tensor of its own.
 */
export const views: Pass = {
  name: 'views',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    const shown = new Map<number, ValueId[]>()
    const remember = (id: ValueId): void => {
      const storage = analysis.storage(id)
      const same = shown.get(storage)
      if (same === undefined) shown.set(storage, [id])
      else same.push(id)
    }
    for (const id of graph.inputs) remember(id)
    for (const { id } of graph.constants) remember(id)
    const replaced = new Set<ValueId>()
    for (const node of graph.nodes) {
      const view = isView(node, analysis)
      for (const id of definitionsOf(node)) {
        const known =
          view && !analysis.isReturned(id) ? shown.get(analysis.storage(id))!.find((other) => sameType(other, id, analysis)) : undefined
        if (known === undefined) remember(id)
        else {
          editor.replaceValue(id, known)
          replaced.add(id)
        }
      }
      if (definitionsOf(node).every((id) => replaced.has(id)) && view) editor.replaceNode(node, [])
    }
    return replaced.size > 0 && needed(replaced, graph) ? editor.finish() : graph
  },
}

/** True for an operator that only looks at memory that was there before, and which nothing writes to. */
function isView(node: GraphNode, analysis: Analysis): boolean {
  const results = definitionsOf(node)
  const storages = new Set(usesOf(node).map((id) => analysis.storage(id)))
  return results.length > 0 && analysis.isPure(node) && results.every((id) => storages.has(analysis.storage(id)))
}

function sameType(a: ValueId, b: ValueId, analysis: Analysis): boolean {
  const [x, y]: [TensorType, TensorType] = [analysis.type(a), analysis.type(b)]
  return x.dtype === y.dtype && x.quant === y.quant && sameLayout(x, y)
}

/** True where a replaced view was read, or its node can go. */
function needed(replaced: ReadonlySet<ValueId>, graph: Graph): boolean {
  return graph.nodes.some((node) => usesOf(node).some((id) => replaced.has(id)) || definitionsOf(node).every((id) => replaced.has(id)))
}
