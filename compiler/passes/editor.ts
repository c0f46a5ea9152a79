import type { Storage } from '../../runtime/tensor/storage.js'
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

/** Collects the changes of a pass and makes the new graph of them. One that changes nothing costs nothing. */
export class Editor {
  /** Values that are new, or have another type. */
  private readonly values = new Map<ValueId, GraphValue>()
  readonly objects: CustomObject[]
  private readonly replacements = new Map<ValueId, ValueId>()
  private places: Places | null = null
  private constants: Constants | null = null
  private next: { id: number; storage: number } | null = null

  constructor(private readonly graph: Graph) {
    this.objects = [...graph.objects]
  }

  /** A value of this type in memory of its own, or in that of another value. */
  newValue(type: TensorType, storage = this.newStorage()): ValueId {
    const id = this.numbers().id++
    this.values.set(id, { id, type, storage })
    return id
  }

  typeOf(id: ValueId): TensorType {
    return this.value(id).type
  }

  storageOf(id: ValueId): number {
    return this.value(id).storage
  }

  /** The number of memory that no value has yet. */
  newStorage(): number {
    return this.numbers().storage++
  }

  private value(id: ValueId): GraphValue {
    return this.values.get(id) ?? this.graph.values.get(id)!
  }

  /** The first numbers that no value has. */
  private numbers(): { id: number; storage: number } {
    if (this.next !== null) return this.next
    const next = { id: 0, storage: 0 }
    for (const value of this.graph.values.values()) {
      next.id = Math.max(next.id, value.id + 1)
      next.storage = Math.max(next.storage, value.storage + 1)
    }
    return (this.next = next)
  }

  /**
   * A constant that belongs to the compiled graph. One that views memory of the module has no share in it, so that the memory goes when the
   * caller disposes of the module's tensor, as it does where calls are interpreted.
   */
  addConstant(tensor: Tensor, name: string): ValueId {
    tensor.pinned = true
    const constants = (this.constants ??= new Constants(this.graph))
    const viewed = constants.sharing(tensor)
    if (viewed.some((c) => !c.derived || c.tensor.isReleased) && viewed.every((c) => c.tensor !== tensor)) tensor.release()
    const id = this.newValue(typeOf(tensor))
    constants.add(id, name, tensor, true)
    return id
  }

  /** The number of an object among those of the graph. */
  addObject(object: CustomObject): number {
    const known = this.objects.indexOf(object)
    return known < 0 ? this.objects.push(object) - 1 : known
  }

  /** The constant for a tensor that belongs to the module. */
  givenConstant(tensor: Tensor, name: string): ValueId {
    const constants = (this.constants ??= new Constants(this.graph))
    const shared = constants.sharing(tensor)
    const known = shared.find((c) => c.tensor === tensor)
    if (known !== undefined) return known.id
    const id = this.newValue(typeOf(tensor), shared.length === 0 ? undefined : this.storageOf(shared[0]!.id))
    constants.add(id, name, tensor, false)
    return id
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
    this.places ??= new Places(this.graph)
    this.places.replace(node, by)
  }

  /** The new graph; values, constants and objects that nothing uses any more are left out. */
  finish(): Graph {
    const replace = (id: ValueId): ValueId => {
      let to = id
      for (let by = this.replacements.get(to); by !== undefined; by = this.replacements.get(to)) to = by
      return to
    }
    const placed = this.places?.nodes() ?? this.graph.nodes
    const graph = withoutUnused({
      ...this.graph,
      constants: this.constants?.all ?? this.graph.constants,
      objects: this.objects,
      nodes: this.replacements.size === 0 ? placed : placed.map((node) => mapUses(node, replace)),
      output: mapArg(this.graph.output, replace),
    })
    const ids = [...graph.inputs, ...graph.constants.map((c) => c.id), ...graph.nodes.flatMap(definitionsOf)]
    return { ...graph, values: new Map(ids.map((id) => [id, this.value(id)])) }
  }
}

/** What stands in the place of each node of a graph. */
class Places {
  private readonly places: readonly GraphNode[][]
  private readonly placeOf = new Map<GraphNode, GraphNode[]>()

  constructor({ nodes }: Graph) {
    this.places = nodes.map((node) => [node])
    for (const place of this.places) this.placeOf.set(place[0]!, place)
  }

  replace(node: GraphNode, by: readonly GraphNode[]): void {
    const place = this.placeOf.get(node)!
    place.splice(place.indexOf(node), 1, ...by)
    for (const each of by) this.placeOf.set(each, place)
  }

  nodes(): readonly GraphNode[] {
    return this.places.flat()
  }
}

/** Constants, by their memory and names. */
class Constants {
  readonly all: GraphConstant[] = []
  private readonly inMemory = new Map<Storage, GraphConstant[]>()
  /** Names, and how many begin with each of them. */
  private readonly names = new Map<string, number>()

  constructor({ constants }: Graph) {
    for (const { id, name, tensor, derived } of constants) this.add(id, name, tensor, derived)
  }

  /** Constants in the memory of a tensor. */
  sharing({ storage }: Tensor): readonly GraphConstant[] {
    return this.inMemory.get(storage) ?? []
  }

  /** Adds one, by a name of its own. */
  add(id: ValueId, name: string, tensor: Tensor, derived: boolean): void {
    const constant = { id, name: this.unique(name), tensor, derived }
    this.all.push(constant)
    const sharing = this.inMemory.get(tensor.storage)
    if (sharing === undefined) this.inMemory.set(tensor.storage, [constant])
    else sharing.push(constant)
  }

  private unique(name: string): string {
    let unique = name
    let count = this.names.get(name) ?? 1
    while (this.names.has(unique)) unique = `${name}#${++count}`
    this.names.set(name, count).set(unique, 1)
    return unique
  }
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
