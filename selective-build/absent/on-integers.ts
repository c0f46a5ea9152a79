import type { Graph } from '../../compiler/graph/graph.js'

/** Programs that no traced call computed on integers stay as they are. */
export function onIntegers(graph: Graph): Graph {
  return graph
}
