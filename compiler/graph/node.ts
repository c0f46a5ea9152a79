import { argsOf, withArgs } from './compiled.js'
import { type Arg, type GraphNode, mapArg, type NodeBase, type ValueId, visitArg } from './graph.js'

/** Arguments of an operator, or fields of another node. */
export function operandsOf(node: GraphNode): readonly Arg[] {
  return node.kind === 'operator' ? node.args : argsOf(node)
}

/** Values that a node reads, in the order of its arguments. */
export function usesOf(node: GraphNode): ValueId[] {
  const ids: ValueId[] = []
  for (const arg of operandsOf(node)) visitArg(arg, (id) => ids.push(id))
  return ids
}

/** The node with other values in place of those it reads and writes to. */
export function mapUses(node: GraphNode, replace: (id: ValueId) => ValueId): GraphNode {
  const args = operandsOf(node).map((arg) => mapArg(arg, replace))
  const writes = node.writes.map(replace)
  return node.kind === 'operator' ? { ...node, args, writes } : { ...withArgs(node, args), writes }
}

/** What a node is called: its operator, or its kind. */
export function nameOf(node: GraphNode): string {
  return node.kind === 'operator' ? node.op : node.kind
}

/** What all nodes have, of one of them: for a node in its place. */
export function baseOf({ results, writes, origin, draws, note }: GraphNode): NodeBase {
  return { results, writes, origin, ...(draws === undefined ? {} : { draws }), ...(note === undefined ? {} : { note }) }
}
