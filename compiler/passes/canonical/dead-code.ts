import { definitionsOf, type Graph, type GraphNode, type ValueId, visitArg } from '../../graph/graph.js'
import { usesOf } from '../../graph/node.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/**
 * Leaves out what no output depends on.
 *
 *     %2 = aten::relu(%0)
 *     %3 = aten::sigmoid(%0)          %2 = aten::relu(%0)
 *     return %2                  →    return %2
 *
 * A node that writes in place stays as long as anything later reads memory that it wrote to, and where that memory is an input's. One that draws random
 * numbers stays.
 */
export const deadCode: Pass = {
  name: 'dead code',
  run(graph) {
    const dead = deadNodes(graph)
    if (dead.length === 0) return graph
    const editor = new Editor(graph)
    for (const node of dead) editor.replaceNode(node, [])
    return editor.finish()
  },
}

function deadNodes(graph: Graph): GraphNode[] {
  const needed = new Set<ValueId>()
  const storages = new Set<number>()
  const need = (id: ValueId): void => {
    needed.add(id)
    storages.add(graph.values.get(id)!.storage)
  }
  visitArg(graph.output, need)
  // whoever gave an input sees what is written to it
  for (const id of graph.inputs) storages.add(graph.values.get(id)!.storage)
  const dead: GraphNode[] = []
  for (const node of [...graph.nodes].reverse()) {
    const writesNeeded = node.writes.some((id) => storages.has(graph.values.get(id)!.storage))
    if (!writesNeeded && node.draws !== true && !definitionsOf(node).some((id) => needed.has(id))) dead.push(node)
    else for (const id of usesOf(node)) need(id)
  }
  return dead
}
