import type { Graph } from '../graph/graph.js'

/** What a user decides about the passes. */
export interface PassOptions {
  /** 3x3 convolutions may be computed by Winograd's F(4x4, 3x3), whose results differ by more roundings. */
  readonly winograd: boolean
}

export const DEFAULT_OPTIONS: PassOptions = { winograd: true }

/** A rewrite of a graph that computes the same outputs. */
export interface Pass {
  /** As `ptlite inspect --plan` and docs/compiler.md call it. */
  readonly name: string
  /** Returns the graph itself where there is nothing to do. */
  readonly run: (graph: Graph) => Graph
}

/** Repeats a rewrite until it finds nothing more to do. */
export function untilStable(rewrite: (graph: Graph) => Graph): (graph: Graph) => Graph {
  return (graph) => {
    for (let current = graph; ;) {
      const next = rewrite(current)
      if (next === current) return current
      current = next
    }
  }
}
