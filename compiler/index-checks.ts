import { calledOperator } from '../runtime/operators/table/registry.js'
import { numelOf } from '../runtime/tensor/shape.js'
import { DType } from '../runtime/tensor/dtype.js'
import { type Arg, denseType, type Graph, type GraphNode, type OperatorNode, value, type ValueId } from './graph/graph.js'
import { usesOf } from './graph/node.js'
import { constantOf } from './graph/shared-constants.js'
import { type Analysis, analysisOf } from './passes/analysis.js'
import { Editor } from './passes/editor.js'

const PUT = 'aten::index_put_'
const GET = 'aten::index.Tensor'
/** Operators that fail for nothing but indices outside of the dimensions that they are of, which they count from either end. */
const INDEXING: ReadonlySet<string> = new Set([PUT, GET, 'aten::index_put'])
/** Elements of what is computed ahead, which then lives longer. */
const MAX_ELEMENTS = 4096

/** An index, and the size of the dimension that it is of. */
interface Check {
  readonly index: ValueId
  readonly size: number
}

/** Tells which nodes cannot fail, since those before them had the same indices. Nodes are asked for in their order. */
export class PassedChecks {
  private readonly passed = new Set<string>()
  private readonly written: ReadonlySet<number>

  constructor(private readonly graph: Graph) {
    this.written = storagesWritten(graph)
  }

  cover(node: GraphNode): boolean {
    const checks = checksOf(node, this.graph)
    // an index that is written to is not the same one later
    if (checks === null || checks.some(({ index }) => this.written.has(this.graph.values.get(index)!.storage))) return false
    const keys = checks.map(({ index, size }) => `${index} ${size}`)
    const isCovered = keys.every((key) => this.passed.has(key))
    for (const key of keys) this.passed.add(key)
    return isCovered
  }
}

/**
 * The graph with the indices of all updates in place checked before the first of them writes: where exporters write caches back at the end, a bad index in one of them
 * then leaves all as they were. Indices that depend on what is written, or on much, are checked where they were.
 */
export function checkedFirst(graph: Graph): Graph {
  const given = new Set(graph.inputs.map((id) => graph.values.get(id)!.storage))
  const writes = (node: GraphNode): boolean => node.writes.some((id) => given.has(graph.values.get(id)!.storage))
  const first = graph.nodes.findIndex(writes)
  if (first < 0 || calledOperator(GET) === undefined) return graph
  const known = new PassedChecks(graph)
  for (const node of graph.nodes.slice(0, first + 1)) known.cover(node)
  const analysis = analysisOf(graph)
  const written = firstWrites(graph, first)
  const editor = new Editor(graph)
  const ahead = new Set<GraphNode>()
  const added: GraphNode[] = []
  for (const [at, node] of graph.nodes.entries()) {
    if (at <= first || node.kind !== 'operator' || node.op !== PUT || !writes(node)) continue
    const checks = checksOf(node, graph)
    const needed = checks === null ? null : neededFor(checks, first, (storage) => (written.get(storage) ?? at) < at, analysis)
    if (checks === null || needed === null || known.cover(node)) continue
    for (const other of needed) ahead.add(other)
    for (const check of checks) added.push(checkOf(check, node, editor))
  }
  if (added.length === 0) return graph
  const start = graph.nodes[first]!
  const moved = graph.nodes.filter((node) => ahead.has(node))
  for (const node of moved) editor.replaceNode(node, [])
  editor.replaceNode(start, [...moved, ...added, start])
  return editor.finish()
}

/** What a node checks of its indices; null for those that check something else, or nothing that is known here. */
function checksOf(node: GraphNode, graph: Graph): readonly Check[] | null {
  if (node.kind !== 'operator' || !INDEXING.has(node.op)) return null
  const [self, indices] = node.args
  if (self?.kind !== 'value') return null
  const { shape } = graph.values.get(self.id)!.type
  const items: readonly Arg[] = indices?.kind === 'list' ? indices.items : []
  const checks: Check[] = []
  for (const [dim, item] of items.entries()) {
    if (item.kind === 'constant' && item.value === null) continue
    // masks are of several dimensions
    if (item.kind !== 'value' || !isInteger(graph.values.get(item.id)!.type.dtype)) return null
    checks.push({ index: item.id, size: shape[dim]! })
  }
  return checks.length === 0 ? null : checks
}

function isInteger(dtype: DType): boolean {
  return dtype === DType.int64 || dtype === DType.int32
}

/** Nodes from number `first` on that indices are made by, some memory being written to before; null where they cannot all run before the first one. */
function neededFor(
  checks: readonly Check[],
  first: number,
  isWritten: (storage: number) => boolean,
  analysis: Analysis,
): readonly GraphNode[] | null {
  const needed = new Set<GraphNode>()
  const open = checks.map(({ index }) => index)
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (numelOf(analysis.type(id).shape) > MAX_ELEMENTS || isWritten(analysis.storage(id))) return null
    const node = analysis.producer(id)
    if (node === undefined || analysis.placeOf(node) < first || needed.has(node)) continue
    if (node.kind !== 'operator' || node.writes.length > 0 || node.draws === true) return null
    needed.add(node)
    open.push(...usesOf(node))
  }
  return [...needed]
}

/** Where memory is written to first by nodes from number `first` on. */
function firstWrites({ nodes, values }: Graph, first: number): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (let place = nodes.length - 1; place >= first; place--)
    for (const id of nodes[place]!.writes) places.set(values.get(id)!.storage, place)
  return places
}

function storagesWritten({ nodes, values }: Graph): Set<number> {
  return new Set(nodes.flatMap(({ writes }) => writes.map((id) => values.get(id)!.storage)))
}

/** Takes elements of as many zeros as a dimension has: it fails where the update would. */
function checkOf({ index, size }: Check, { origin }: OperatorNode, editor: Editor): OperatorNode {
  const zeros = editor.addConstant(constantOf(new Float32Array(size), [size]), 'zeros')
  const { shape } = editor.typeOf(index)
  const taken = editor.newValue(denseType(DType.float32, shape))
  return {
    kind: 'operator',
    op: GET,
    args: [value(zeros), { kind: 'list', items: [value(index)] }],
    results: [{ kind: 'value', id: taken }],
    writes: [],
    origin,
  }
}
