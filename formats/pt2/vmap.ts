import { damaged, unsupported } from '../../program/file-error.js'
import { type Argument, type Graph, type GraphNode, MAX_GRAPHS, type NodeInput } from './graph.js'
import { MAP_ROWS } from './higher-order.js'
import { forEachName } from './scope.js'

const PREFIX = 'torch._functorch.predispatch.'
const BEGIN = `${PREFIX}_vmap_increment_nesting`
const END = `${PREFIX}_vmap_decrement_nesting`
const ADD = `${PREFIX}_add_batch_dim`
const REMOVE = `${PREFIX}_remove_batch_dim`
/** Prepares PyTorch itself. */
const LOAD = `${PREFIX}lazy_load_decompositions`

/**
 * A graph with the calls of `torch.vmap` as calls of `map` over the first dimension: what stands between the marks that torch.export leaves is the graph of one row.
 * Throws INVALID_FILE where the marks do not fit together, UNSUPPORTED_FILE for a value that a row makes for all.
 */
export function withMaps(graph: Graph, depth: number): Graph {
  if (!graph.nodes.some(({ target }) => target === BEGIN || target === LOAD)) return graph
  return { ...graph, nodes: mapped(graph.nodes, graph, depth) }
}

/** The nodes of `graph`, or those of a row of it with the row's outputs. */
function mapped(all: readonly GraphNode[], graph: Graph, depth: number): GraphNode[] {
  if (depth > MAX_GRAPHS) throw damaged(`regions of torch.vmap are nested more than ${MAX_GRAPHS} deep`)
  const nodes = all.filter(({ target }) => target !== LOAD)
  const lastUses = new Map<string, number>()
  nodes.forEach(({ inputs }, at) => {
    for (const { argument } of inputs) forEachName(argument, (name) => lastUses.set(name, at))
  })
  for (const output of graph.outputs) forEachName(output, (name) => lastUses.set(name, nodes.length))
  const result: GraphNode[] = []
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at]!
    if (node.target !== BEGIN) {
      result.push(node)
      continue
    }
    const end = endOf(nodes, at)
    const isUsedBehind = (name: string): boolean => (lastUses.get(name) ?? -1) > end
    for (const one of mapOf(nodes.slice(at + 1, end), node, isUsedBehind, graph, depth)) result.push(one)
    at = end
  }
  return result
}

function endOf(nodes: readonly GraphNode[], begin: number): number {
  let depth = 0
  for (let at = begin; at < nodes.length; at++) {
    const { target } = nodes[at]!
    if (target === BEGIN) depth++
    else if (target === END && --depth === 0) return at
  }
  throw damaged('a region of torch.vmap does not end')
}

/** The nodes of one region, as rows to the front, `map`, and the results' rows to where they belong. */
function mapOf(
  region: readonly GraphNode[],
  begin: GraphNode,
  isUsedBehind: (name: string) => boolean,
  graph: Graph,
  depth: number,
): GraphNode[] {
  const [before, after]: [GraphNode[], GraphNode[]] = [[], []]
  const rows: Argument[] = []
  const inputs: Argument[] = []
  const outputs: Argument[] = []
  const results: Argument[] = []
  const body: GraphNode[] = []
  const moved = (node: GraphNode, tensor: Argument, from: number, to: number, result: Argument): GraphNode => ({
    ...node,
    target: 'torch.ops.aten.movedim.int',
    inputs: [named('self', tensor), named('source', int(from)), named('destination', int(to))],
    outputs: [result],
  })
  let nesting = 0
  for (const node of region) {
    const [tensor, ...numbers] = node.inputs.map(({ argument }) => argument)
    if (node.target === BEGIN) nesting++
    else if (node.target === END) nesting--
    if (nesting === 0 && node.target === ADD) {
      const [dim, [row]] = [numberOf(numbers[0]), node.outputs]
      if (tensor?.kind !== 'tensor' || row?.kind !== 'tensor') throw damaged('expected a tensor with rows')
      const first: Argument = { kind: 'tensor', name: `%rows:${row.name}` }
      if (dim !== 0) before.push(moved(node, tensor, dim, 0, first))
      rows.push(dim === 0 ? tensor : first)
      inputs.push(row)
    } else if (nesting === 0 && node.target === REMOVE) {
      const [dim, [result]] = [numberOf(numbers[2]), node.outputs]
      if (tensor?.kind !== 'tensor' || result?.kind !== 'tensor') throw damaged('expected a tensor of rows')
      const first: Argument = { kind: 'tensor', name: `%rows:${result.name}` }
      if (dim !== 0) after.push(moved(node, first, 0, dim, result))
      results.push(dim === 0 ? result : first)
      outputs.push(tensor)
    } else body.push(node)
  }
  if (rows.length === 0) throw damaged('a region of torch.vmap has no rows')
  const made = new Set<string>()
  for (const value of [...inputs, ...body.flatMap(({ outputs }) => outputs)]) forEachName(value, (name) => made.add(name))
  for (const name of made)
    if (isUsedBehind(name))
      throw unsupported(`'${name}' is the same for all rows of torch.vmap and used behind it; ep.run_decompositions() rewrites that`)
  const row = { ...graph, inputs, outputs }
  const nodes = mapped(body, row, depth + 1)
  // inner regions make what they move, too
  for (const node of nodes) for (const output of node.outputs) forEachName(output, (name) => made.add(name))
  const captured = new Map<string, Argument>()
  for (const value of [...nodes.flatMap((node) => node.inputs.map(({ argument }) => argument)), ...outputs])
    forEachName(value, (name, argument) => {
      if (!made.has(name)) captured.set(name, argument)
    })
  const map: GraphNode = {
    ...begin,
    target: `torch.ops.higher_order.${MAP_ROWS}`,
    inputs: [
      named('', { kind: 'graph', name: 'row', graph: { ...row, inputs: [...inputs, ...captured.values()], nodes } }),
      named('', list(rows)),
      named('', list([...captured.values()])),
    ],
    outputs: [list(results)],
  }
  return [...before, map, ...after]
}

function numberOf(argument: Argument | undefined): number {
  if (argument?.kind === 'constant' && typeof argument.value === 'number') return argument.value
  throw damaged('expected the number of a dimension')
}

function named(name: string, argument: Argument): NodeInput {
  return { name, argument }
}

function int(value: number): Argument {
  return { kind: 'constant', type: 'int', value }
}

function list(items: readonly Argument[]): Argument {
  return { kind: 'list', items }
}
