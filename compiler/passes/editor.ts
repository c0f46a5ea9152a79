import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../runtime/tensor/value.js'
import {
  definitionsOf,
  type Graph,
  type GraphConstant,
  type GraphNode,
  type GraphValue,
  mapArg,
  type TensorType,
  type ValueId,
  visitArg,
} from '../graph/graph.js'
import { mapUses, usesOf } from '../graph/node.js'
import { typeOf } from '../record/recorder.js'

/** Collects the changes of a pass and makes the new graph of them. */
export class Editor {
  private readonly values: Map<ValueId, GraphValue>
  private readonly constants: GraphConstant[]
  readonly objects: CustomObject[]
  private readonly replacements = new Map<ValueId, ValueId>()
  private nodes: GraphNode[]
  private nextId: number
  private nextStorage: number

  constructor(private readonly graph: Graph) {
    this.values = new Map(graph.values)
    this.constants = [...graph.constants]
    this.objects = [...graph.objects]
    this.nodes = [...graph.nodes]
    let id = 0
    let storage = 0
    for (const value of graph.values.values()) {
      id = Math.max(id, value.id + 1)
      storage = Math.max(storage, value.storage + 1)
    }
    this.nextId = id
    this.nextStorage = storage
  }

  /** A value of this type in memory of its own, or in that of another value. */
  newValue(type: TensorType, storage = this.nextStorage++): ValueId {
    const id = this.nextId++
    this.values.set(id, { id, type, storage })
    return id
  }

  typeOf(id: ValueId): TensorType {
    return this.values.get(id)!.type
  }

  storageOf(id: ValueId): number {
    return this.values.get(id)!.storage
  }

  /** The number of memory that no value has yet. */
  newStorage(): number {
    return this.nextStorage++
  }

  /**
   * A constant that belongs to the compiled graph. One that views memory of the module has no share in it, so that the memory goes when the
   * caller disposes of the module's tensor, as it does where calls are interpreted.
   */
  addConstant(tensor: Tensor, name: string): ValueId {
    tensor.pinned = true
    const viewed = this.constants.filter((c) => c.tensor.storage === tensor.storage)
    if (viewed.some((c) => !c.derived || c.tensor.isReleased) && viewed.every((c) => c.tensor !== tensor)) tensor.release()
    const id = this.newValue(typeOf(tensor))
    this.constants.push({ id, name: this.unique(name), tensor, derived: true })
    return id
  }

  /** The number of an object among those of the graph. */
  addObject(object: CustomObject): number {
    const known = this.objects.indexOf(object)
    return known < 0 ? this.objects.push(object) - 1 : known
  }

  /** The constant for a tensor that belongs to the module. */
  givenConstant(tensor: Tensor, name: string): ValueId {
    const known = this.constants.find((c) => c.tensor === tensor)
    if (known !== undefined) return known.id
    const shared = this.constants.find((c) => c.tensor.storage === tensor.storage)
    const id = this.newValue(typeOf(tensor), shared === undefined ? undefined : this.values.get(shared.id)!.storage)
    this.constants.push({ id, name: this.unique(name), tensor, derived: false })
    return id
  }

  private unique(name: string): string {
    let unique = name
    for (let i = 2; this.constants.some((c) => c.name === unique); i++) unique = `${name}#${i}`
    return unique
  }

  /** Every use of `id` becomes one of `by`. */
  replaceValue(id: ValueId, by: ValueId): void {
    this.replacements.set(id, by)
  }

  setType(id: ValueId, type: TensorType, storage: number): void {
    this.values.set(id, { id, type, storage })
  }

  /** Puts `by` in the place of `node`. */
  replaceNode(node: GraphNode, by: readonly GraphNode[]): void {
    this.nodes.splice(this.nodes.indexOf(node), 1, ...by)
  }

  /** The new graph; values, constants and objects that nothing uses any more are left out. */
  finish(): Graph {
    const replace = (id: ValueId): ValueId => {
      let to = id
      while (this.replacements.has(to)) to = this.replacements.get(to)!
      return to
    }
    const nodes = this.replacements.size === 0 ? this.nodes : this.nodes.map((node) => mapUses(node, replace))
    const graph = withoutUnused({
      ...this.graph,
      values: this.values,
      constants: this.constants,
      objects: this.objects,
      nodes,
      output: mapArg(this.graph.output, replace),
    })
    return { ...graph, values: definedValues(graph) }
  }
}

/** The values that inputs, constants and nodes define. */
function definedValues(graph: Graph): ReadonlyMap<ValueId, GraphValue> {
  const ids = [...graph.inputs, ...graph.constants.map((c) => c.id), ...graph.nodes.flatMap(definitionsOf)]
  return new Map(ids.map((id) => [id, graph.values.get(id)!]))
}

/** Leaves out constants that nothing reads. Those that the compiler made are released. */
function withoutUnused(graph: Graph): Graph {
  const used = new Set<ValueId>()
  for (const node of graph.nodes) for (const id of usesOf(node)) used.add(id)
  visitArg(graph.output, (id) => used.add(id))
  const constants = graph.constants.filter((c) => used.has(c.id))
  if (constants.length === graph.constants.length) return graph
  for (const c of graph.constants) if (c.derived && !used.has(c.id)) c.tensor.release()
  return { ...graph, constants }
}
