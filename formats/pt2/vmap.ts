import { damaged, unsupported } from '../../program/file-error.js'
import type { Argument, Graph, GraphNode, NodeInput } from './graph.js'
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
export function withMaps(graph: Graph): Graph {
  if (!graph.nodes.some(({ target }) => target === BEGIN || target === LOAD)) return graph
  return { ...graph, nodes: mapped(graph.nodes, namesOf(graph.outputs), graph) }
}

/** `later` are the names that are used behind these nodes. */
function mapped(all: readonly GraphNode[], later: ReadonlySet<string>, graph: Graph): GraphNode[] {
  const nodes = all.filter(({ target }) => target !== LOAD)
  const result: GraphNode[] = []
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at]!
    if (node.target !== BEGIN) {
      result.push(node)
      continue
    }
    const end = endOf(nodes, at)
    const behind = nodes.slice(end + 1)
    const used = new Set([...later, ...behind.flatMap(({ inputs }) => [...namesOf(inputs.map(({ argument }) => argument))])])
    result.push(...mapOf(nodes.slice(at + 1, end), node, used, graph))
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
function mapOf(region: readonly GraphNode[], begin: GraphNode, used: ReadonlySet<string>, graph: Graph): GraphNode[] {
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
  let depth = 0
  for (const node of region) {
    const [tensor, ...numbers] = node.inputs.map(({ argument }) => argument)
    if (node.target === BEGIN) depth++
    else if (node.target === END) depth--
    if (depth === 0 && node.target === ADD) {
      const [dim, [row]] = [numberOf(numbers[0]), node.outputs]
      if (tensor?.kind !== 'tensor' || row?.kind !== 'tensor') throw damaged('expected a tensor with rows')
      const first: Argument = { kind: 'tensor', name: `%rows:${row.name}` }
      if (dim !== 0) before.push(moved(node, tensor, dim, 0, first))
      rows.push(dim === 0 ? tensor : first)
      inputs.push(row)
    } else if (depth === 0 && node.target === REMOVE) {
      const [dim, [result]] = [numberOf(numbers[2]), node.outputs]
      if (tensor?.kind !== 'tensor' || result?.kind !== 'tensor') throw damaged('expected a tensor of rows')
      const first: Argument = { kind: 'tensor', name: `%rows:${result.name}` }
      if (dim !== 0) after.push(moved(node, first, 0, dim, result))
      results.push(dim === 0 ? result : first)
      outputs.push(tensor)
    } else body.push(node)
  }
  if (rows.length === 0) throw damaged('a region of torch.vmap has no rows')
  const made = new Set([...inputs, ...body.flatMap(({ outputs }) => outputs)].flatMap((value) => [...namesOf([value])]))
  for (const name of used)
    if (made.has(name))
      throw unsupported(`'${name}' is the same for all rows of torch.vmap and used behind it; ep.run_decompositions() rewrites that`)
  const nodes = mapped(body, namesOf(outputs), graph)
  const additional = new Map<string, Argument>()
  const capture = (argument: Argument): void => {
    if (argument.kind === 'list') argument.items.forEach(capture)
    else if ((argument.kind === 'tensor' || argument.kind === 'symbol') && !made.has(argument.name)) additional.set(argument.name, argument)
  }
  // what inner regions move and map is made in there, too
  const inside = new Set(nodes.flatMap((node) => [...namesOf(node.outputs)]))
  for (const node of nodes) for (const { argument } of node.inputs) capture(argument)
  for (const output of outputs) capture(output)
  const captured = [...additional.values()].filter(
    (argument) => argument.kind === 'symbol' || (argument.kind === 'tensor' && !inside.has(argument.name)),
  )
  const row: Graph = { ...graph, inputs: [...inputs, ...captured], nodes, outputs }
  const map: GraphNode = {
    ...begin,
    target: 'torch.ops.higher_order.map_impl',
    inputs: [{ kind: 'graph', name: 'row', graph: row } as const, list(rows), list(captured)].map((argument) => named('', argument)),
    outputs: [list(results)],
  }
  return [...before, map, ...after]
}

function namesOf(values: readonly Argument[]): Set<string> {
  const names = new Set<string>()
  for (const value of values) forEachName(value, (name) => names.add(name))
  return names
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
