import type { GraphArgument, GraphNode as NodeInfo, ModelGraph } from '../program/graph-info.js'
import { findOperator } from '../runtime/operators/table/registry.js'
import { dtypeName } from '../runtime/tensor/dtype.js'
import { namedArgs } from './graph/compiled.js'
import { type Arg, definitionsOf, type Graph, type GraphNode, type Origin, type ValueId, visitArg } from './graph/graph.js'
import { nameOf } from './graph/node.js'
import { argText } from './graph/print.js'
import type { PassOptions } from './passes/pass.js'
import { optimize } from './passes/pipeline.js'

/** Characters of an argument's text. */
const MAX_TEXT = 200

/** A recorded graph as data, or with `options` what the passes make of it; `names` are those of the method's arguments, `lineOf` finds source lines. */
export function describeGraph(
  recorded: Graph,
  options: PassOptions | null,
  names: readonly string[],
  lineOf: (origin: Origin) => string | undefined,
): ModelGraph {
  if (options === null) return described(recorded, names, lineOf)
  const graph = optimize(recorded, undefined, options)
  try {
    return described(graph, names, lineOf)
  } finally {
    for (const c of graph.constants) if (c.derived) c.tensor.release()
  }
}

function described(graph: Graph, names: readonly string[], lineOf: (origin: Origin) => string | undefined): ModelGraph {
  const nodes: NodeInfo[] = []
  /** Numbers of the nodes that values come from. */
  const makers = new Map<ValueId, number>()
  const constants = new Map(graph.constants.map(({ id, name }) => [id, name]))
  const typeOf = (id: ValueId): string => {
    const { dtype, shape } = graph.values.get(id)!.type
    return `${dtypeName(dtype)}[${shape.join(', ')}]`
  }
  const idText = (id: ValueId): string => constants.get(id) ?? `%${makers.get(id) ?? '?'}`
  const argument = (name: string, arg: Arg): GraphArgument => {
    const from = new Set<number>()
    visitArg(arg, (id) => {
      const maker = makers.get(id)
      if (maker !== undefined) from.add(maker)
    })
    const text = argText(arg, NO_WRITES, idText)
    return { name, text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text, from: [...from] }
  }
  const constantsIn = (args: readonly Arg[]): string[] => {
    const found = new Set<string>()
    for (const arg of args)
      visitArg(arg, (id) => {
        const name = constants.get(id)
        if (name !== undefined) found.add(name)
      })
    return [...found]
  }
  const plain = { parameters: [], place: null, source: null, missing: false }
  const inputs = [...new Set(graph.inputs)]
  for (const [i, id] of inputs.entries()) {
    makers.set(id, nodes.length)
    // tensors in lists have no name of their own
    const name = inputs.length === names.length ? names[i]! : `input ${i}`
    nodes.push({ kind: 'input', name, args: [], results: [typeOf(id)], ...plain })
  }
  for (const node of graph.nodes) {
    const args = argsOf(node)
    const values = args.map(([name, arg]) => argument(name, arg))
    const { origin } = node
    const results = definitionsOf(node)
    for (const id of results) makers.set(id, nodes.length)
    // what reads a value that this writes to comes after it
    for (const id of node.writes) makers.set(id, nodes.length)
    nodes.push({
      kind: 'operator',
      name: nameOf(node),
      args: values,
      results: results.map(typeOf),
      parameters: constantsIn(args.map(([, arg]) => arg)),
      place: origin === null ? null : { function: origin.functionName, instruction: origin.pc },
      source: (origin === null ? undefined : lineOf(origin)) ?? null,
      missing: false,
    })
  }
  const { output } = graph
  const returned = output.kind === 'tuple' || output.kind === 'list' ? output.items : [output]
  nodes.push({ kind: 'output', name: 'return', args: returned.map((arg) => argument('', arg)), results: [], ...plain })
  return { nodes }
}

const NO_WRITES: ReadonlySet<ValueId> = new Set()

function argsOf(node: GraphNode): (readonly [string, Arg])[] {
  if (node.kind !== 'operator') return namedArgs(node)
  const schema = findOperator(node.op)?.schema
  return node.args.map((arg, i) => [schema?.arguments[i]?.name ?? '', arg] as const)
}
