import { type Block, Node, Value } from './graph.js'

/**
 * Takes out what never runs, since every path to there has ended in an operator that the build lacks: it was written without knowing what that gives. Of other operators
 * that are missing there the names stay.
 */
export function dropLost(block: Block): void {
  const { nodes, results, lostAt } = block
  if (lostAt !== null) {
    const names = nodes.splice(lostAt).flatMap(missingBelow)
    for (const { action, inputs, site } of names) nodes.push(new Node(action, inputs.map(nothing), site))
    results.forEach((value, i) => (results[i] = nothing(value)))
  }
  for (const { blocks } of nodes) blocks.forEach(dropLost)
}

function missingBelow(node: Node): Node[] {
  return [...(node.action.kind === 'missing' ? [node] : []), ...node.blocks.flatMap(({ nodes }) => nodes.flatMap(missingBelow))]
}

function nothing({ type }: Value): Value {
  return new Value(type, null, null)
}
