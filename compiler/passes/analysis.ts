import type { Tensor } from '../../runtime/tensor/tensor.js'
import {
  type Arg,
  definitionsOf,
  type Graph,
  type GraphConstant,
  type GraphNode,
  type OperatorNode,
  type TensorType,
  type ValueId,
  visitArg,
} from '../graph/graph.js'
import { usesOf } from '../graph/node.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { isContiguous } from '../../runtime/tensor/shape.js'

/** What passes ask about a graph: who makes a value, who reads it, and which memory is not theirs to move. */
export class Analysis {
  private readonly producers = new Map<ValueId, GraphNode>()
  private readonly readers = new Map<ValueId, GraphNode[]>()
  private readonly returned = new Set<ValueId>()
  private readonly constants = new Map<ValueId, GraphConstant>()
  private readonly sharing = new Map<number, ValueId[]>()
  /** Storages that some node writes to in place. */
  readonly written = new Set<number>()
  private readonly lastWrites = new Map<number, number>()
  private readonly places = new Map<GraphNode, number>()
  /** Storages of inputs and constants. */
  readonly given = new Set<number>()
  /** Storages that the outputs lie in. */
  readonly outputs = new Set<number>()

  constructor(readonly graph: Graph) {
    const storage = (id: ValueId): number => graph.values.get(id)!.storage
    for (const id of graph.inputs) this.given.add(storage(id))
    for (const constant of graph.constants) {
      this.constants.set(constant.id, constant)
      this.given.add(storage(constant.id))
    }
    for (const value of graph.values.values()) {
      const sharing = this.sharing.get(value.storage)
      if (sharing === undefined) this.sharing.set(value.storage, [value.id])
      else sharing.push(value.id)
    }
    for (const [place, node] of graph.nodes.entries()) {
      this.places.set(node, place)
      for (const id of definitionsOf(node)) this.producers.set(id, node)
      for (const id of usesOf(node)) {
        const readers = this.readers.get(id)
        if (readers === undefined) this.readers.set(id, [node])
        else readers.push(node)
      }
      for (const id of node.writes) {
        this.written.add(storage(id))
        this.lastWrites.set(storage(id), place)
      }
    }
    visitArg(graph.output, (id) => {
      this.returned.add(id)
      this.outputs.add(storage(id))
    })
  }

  type(id: ValueId): TensorType {
    return this.graph.values.get(id)!.type
  }

  storage(id: ValueId): number {
    return this.graph.values.get(id)!.storage
  }

  /** All values that show this memory. */
  valuesIn(storage: number): readonly ValueId[] {
    return this.sharing.get(storage) ?? []
  }

  /** The place of a node in the graph. */
  placeOf(node: GraphNode): number {
    return this.places.get(node)!
  }

  /** The node that makes a value; undefined for inputs and constants. */
  producer(id: ValueId): GraphNode | undefined {
    return this.producers.get(id)
  }

  /** Nodes that read a value, once per place, in their order. */
  readersOf(id: ValueId): readonly GraphNode[] {
    return this.readers.get(id) ?? []
  }

  isReturned(id: ValueId): boolean {
    return this.returned.has(id)
  }

  /** The one node that reads a value which nothing else needs. */
  onlyReader(id: ValueId): GraphNode | undefined {
    const readers = this.readersOf(id)
    return readers.length === 1 && !this.returned.has(id) ? readers[0] : undefined
  }

  /** The tensor of a constant. */
  tensor(id: ValueId): Tensor | undefined {
    return this.constants.get(id)?.tensor
  }

  /** What a constant is called. */
  nameOf(id: ValueId): string {
    return this.constants.get(id)!.name
  }

  /** True where nothing writes to the memory of a value, so that reading it earlier or later makes no difference. */
  isSteady(id: ValueId): boolean {
    return !this.written.has(this.storage(id))
  }

  /** True where nothing writes to the memory of a value from a node on, so that reading it later than there makes no difference. */
  isSettled(id: ValueId, from: GraphNode): boolean {
    const last = this.lastWrites.get(this.storage(id))
    return last === undefined || last < this.places.get(from)!
  }

  /** True for a node without effects that gives the same where it stands and anywhere behind. */
  canBeLater(node: GraphNode): boolean {
    if (node.draws === true || node.writes.length > 0) return false
    return [...usesOf(node), ...definitionsOf(node)].every((id) => this.isSettled(id, node))
  }

  /** True for a node without effects, all of whose arguments and results are steady. */
  isPure(node: GraphNode): boolean {
    if (node.draws === true) return false
    return node.writes.length === 0 && usesOf(node).every((id) => this.isSteady(id)) && definitionsOf(node).every((id) => this.isSteady(id))
  }
}

let latest: WeakRef<Analysis> | null = null

/** Of the graph that was asked for last it is there: most passes find nothing to do, so that the next one asks of the same. Nothing is kept alive for that. */
export function analysisOf(graph: Graph): Analysis {
  const known = latest?.deref()
  if (known?.graph === graph) return known
  const analysis = new Analysis(graph)
  latest = new WeakRef(analysis)
  return analysis
}

/** The calls of operators among the nodes. */
export function operatorsOf({ nodes }: Graph): OperatorNode[] {
  return nodes.filter((node) => node.kind === 'operator')
}

/** True for an operator of quantization whose parameters are arguments. */
export function isDecomposed(node: GraphNode): node is OperatorNode {
  return node.kind === 'operator' && node.op.startsWith('quantized_decomposed::')
}

/** Rows of float32, one behind the other. */
export function isDenseFloat({ dtype, shape, strides }: TensorType): boolean {
  return dtype === DType.float32 && isContiguous(shape, strides)
}

/** The value of an argument that is one. */
export function valueArg(arg: Arg | undefined): ValueId | undefined {
  return arg?.kind === 'value' ? arg.id : undefined
}

/** What an operator works on: its first argument. */
export function inputArg({ args }: OperatorNode): Arg {
  return args[0]!
}

/** The same, where it is a value. */
export function inputOf(node: OperatorNode | undefined): ValueId | undefined {
  return valueArg(node?.args[0])
}

/** Whether an argument is this flag. */
export function isFlag(arg: Arg, flag: boolean): boolean {
  return arg.kind === 'constant' && arg.value === flag
}

/** The only value that a node defines. */
export function onlyResult(node: GraphNode): ValueId | undefined {
  const [result] = node.results
  return node.results.length === 1 && result!.kind === 'value' ? result!.id : undefined
}

/** A number argument; undefined for tensors and None. */
export function numberArg(arg: Arg | undefined): number | undefined {
  if (arg?.kind !== 'constant') return undefined
  const { value } = arg
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  return value !== null && typeof value === 'object' && 'value' in value ? (value as { value: number }).value : undefined
}

/** A list of integers, e.g. strides. */
export function integersArg(arg: Arg | undefined): number[] | undefined {
  if (arg?.kind !== 'constant' || !Array.isArray(arg.value)) return undefined
  return arg.value.every((v) => typeof v === 'number' && Number.isInteger(v)) ? (arg.value as number[]) : undefined
}

export function isNone(arg: Arg | undefined): boolean {
  return arg?.kind === 'constant' && arg.value === null
}
