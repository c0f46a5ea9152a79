import { numelOf } from '../runtime/tensor/shape.js'
import { named } from './graph/arguments.js'
import { definitionsOf, type Graph, type GraphNode, type Origin, type ValueId } from './graph/graph.js'
import { usesOf } from './graph/node.js'
import { PassedChecks } from './index-checks.js'
import { drawsRandom, writtenInputs } from './undo-log.js'

/**
 * The inputs whose contents have to be put back where a run ended midway, so that it can be repeated from its start, by the graph or by the interpreter, and leaves in
 * inputs what it would have left without that. Of the memory of others, such as a cache of keys and values, either all is written over before it is read, or all that is
 * written is, and with values that do not depend on it. `recorded` is what the graph was made of; a node that `mayFail` does so for what its operands hold.
 */
export function inputsToKeep(graph: Graph, recorded: Graph, mayFail: (node: GraphNode) => boolean): number[] {
  if (drawsRandom(graph) || !keepsOrder(graph, recorded, mayFail)) return writtenInputs(graph)
  const memory = new InputMemory(graph)
  for (const node of graph.nodes) memory.take(node)
  return graph.inputs.flatMap((id, i) => (memory.isKept(id) ? [i] : []))
}

/** Before its first write: as it was given; after: written in parts. `read`: and looked at since. `defined`: what it held is gone. */
type Phase = 'given' | 'parts' | 'read' | 'defined'

class InputMemory {
  private readonly phases = new Map<number, Phase>()
  /** Elements of memory that one input shows alone. */
  private readonly sizes = new Map<number, number>()
  private readonly written: ReadonlySet<number>
  /** Of which a repetition could find, or leave, something else. */
  private readonly kept = new Set<number>()

  constructor(private readonly graph: Graph) {
    this.written = new Set(graph.nodes.flatMap(({ writes }) => writes.map((id) => this.storage(id))))
    for (const id of new Set(graph.inputs)) {
      const storage = this.storage(id)
      this.sizes.set(storage, this.phases.has(storage) ? Infinity : this.numel(id))
      this.phases.set(storage, 'given')
    }
  }

  isKept(id: ValueId): boolean {
    return this.kept.has(this.storage(id))
  }

  take(node: GraphNode): void {
    const [target] = node.writes
    const reads = usesOf(node).filter((id) => !this.isShown(id, node))
    if (node.writes.length > 1) {
      for (const id of [...reads, ...node.writes]) this.read(id)
      for (const id of node.writes) if (this.phases.has(this.storage(id))) this.kept.add(this.storage(id))
      return
    }
    const way = target === undefined ? null : wayOf(node)
    // what is written over is not read, unless it is an operand once more
    for (const [i, id] of reads.entries()) if (way === null || id !== target || reads.indexOf(id) !== i) this.read(id)
    const storage = target === undefined ? -1 : this.storage(target)
    const phase = this.phases.get(storage)
    if (target === undefined || phase === undefined || phase === 'defined') return
    if (way === null || phase === 'read') this.kept.add(storage)
    else this.phases.set(storage, way === 'whole' && this.numel(target) === this.sizes.get(storage) ? 'defined' : 'parts')
  }

  private read(id: ValueId): void {
    const storage = this.storage(id)
    const phase = this.phases.get(storage)
    if (phase !== undefined && phase !== 'defined' && this.written.has(storage)) this.phases.set(storage, 'read')
  }

  /** True for what a node returns a view of, which is not a look at what it holds. */
  private isShown(id: ValueId, node: GraphNode): boolean {
    return node.writes.length === 0 && definitionsOf(node).some((made) => this.storage(made) === this.storage(id))
  }

  private storage(id: ValueId): number {
    return this.graph.values.get(id)!.storage
  }

  private numel(id: ValueId): number {
    return numelOf(this.graph.values.get(id)!.type.shape)
  }
}

const WHOLE = new Set(['aten::copy_', 'aten::zero_', 'aten::fill_.Scalar', 'aten::fill_.Tensor'])
const PARTS = new Set([
  'aten::index_copy_',
  'aten::index_fill_.int_Scalar',
  'aten::index_fill_.int_Tensor',
  'aten::masked_fill_.Scalar',
  'aten::masked_fill_.Tensor',
  'aten::scatter_.src',
  'aten::scatter_.value',
])

/** What an operator in place writes over, without reading it; null where it does. */
function wayOf(node: GraphNode): 'whole' | 'parts' | null {
  if (node.kind !== 'operator') return null
  if (WHOLE.has(node.op)) return 'whole'
  if (PARTS.has(node.op)) return 'parts'
  if (node.op !== 'aten::index_put_') return null
  const accumulate = named(node, 'accumulate')
  return accumulate.kind === 'constant' && accumulate.value === false ? 'parts' : null
}

/**
 * True where a node that fails has only such writes before it as it had when it was recorded. An operator in place that stands for two, the second of which wrote,
 * fails before it writes.
 */
export function keepsOrder(graph: Graph, recorded: Graph, mayFail: (node: GraphNode) => boolean): boolean {
  const places = new Map<Origin, number>()
  const writes = new Map<number, number[]>()
  for (const [place, { origin, writes: written }] of recorded.nodes.entries()) {
    if (origin !== null) places.set(origin, place)
    for (const id of written) {
      const { storage } = recorded.values.get(id)!
      const known = writes.get(storage)
      if (known === undefined) writes.set(storage, [place])
      else known.push(place)
    }
  }
  const given = new Set(graph.inputs.map((id) => graph.values.get(id)!.storage))
  const checks = new PassedChecks(graph)
  let last = -1
  for (const node of graph.nodes) {
    const isCovered = checks.cover(node)
    if (mayFail(node) && !isCovered && last >= ((node.origin === null ? undefined : places.get(node.origin)) ?? -1)) return false
    for (const id of node.writes) {
      const { storage } = graph.values.get(id)!
      if (!given.has(storage)) continue
      const place = writes.get(storage)?.shift()
      if (place === undefined) return false
      last = Math.max(last, place)
    }
  }
  return [...given].every((storage) => (writes.get(storage)?.length ?? 0) === 0)
}
