import { missingOperators } from '../../runtime/operators/table/missing-operator.js'
import { type OperatorEntry, findOperator } from '../../runtime/operators/table/registry.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { CUSTOM_CLASSES, CustomObject, Device, listType, ScriptObject, Tuple, type Value as Constant } from '../../runtime/tensor/value.js'
import { type Action, type Block, Node, type Site, Value } from './graph.js'
import type { Library } from './library.js'
import type { FunctionUnit } from './library.js'
import {
  BOOL,
  COMPLEX,
  DEVICE,
  dictOf,
  FLOAT,
  INT,
  isTooLarge,
  isTuple,
  listOf,
  namedType,
  NONE,
  plainType,
  STR,
  TENSOR,
  tupleOfTypes,
  type Type,
  UNKNOWN,
} from './types.js'

/** Nodes of one function, and values that it is written with. */
const MAX_NODES = 1 << 18

/** Appends nodes to the block that is being written. */
export class Builder {
  /** Where the code stands that nodes are made for. */
  at = 0
  private count = 0
  /** Operators that the function calls and the build lacks. */
  private readonly lacking = new Set<string>()
  /** Empty lists that say nothing of their elements: they are of any type that is asked for. */
  private readonly openLists = new WeakSet<Value>()

  constructor(
    readonly library: Library,
    readonly unit: FunctionUnit,
    public block: Block,
  ) {}

  get site(): Site {
    return { source: this.unit.source, at: this.at, unit: this.unit, caller: null }
  }

  wrong(message: string): Error {
    this.throwMissing()
    return this.unit.source.wrong(this.at, message)
  }

  unsupported(message: string): Error {
    this.throwMissing()
    return this.unit.source.unsupported(this.at, message)
  }

  /** What is said of code with values of an operator that is missing follows from that. */
  private throwMissing(): void {
    if (this.lacking.size > 0) throw missingOperators([...this.lacking].sort())
  }

  /** Nothing is known of what a call gives that never returns. */
  unknown(): Value {
    return this.constant(null, UNKNOWN)
  }

  /** A call of an operator that the build lacks, which ends the path. Where the code is written for a build that has it, it must not go on without what follows from its schema. */
  missing(name: string, inputs: readonly Value[]): Value {
    this.lacking.add(name)
    this.node({ kind: 'missing', name }, inputs)
    const text = `what follows ${name} was compiled without knowing it; load the TorchScript archive where it is known`
    this.node({ kind: 'RAISE_EXCEPTION' }, [this.constant(text), this.constant(null)])
    this.lose()
    return this.unknown()
  }

  /** Notes that the block goes no further. */
  lose(): void {
    this.block.lostAt ??= this.block.nodes.length
  }

  get isLost(): boolean {
    return this.block.lostAt !== null
  }

  /** A node at the end of the block. */
  node(action: Action, inputs: readonly Value[]): Node {
    if (++this.count > MAX_NODES) throw this.wrong(`a function of more than ${MAX_NODES} operations`)
    this.library.spend(1 + inputs.length)
    const node = new Node(action, [...inputs], this.site)
    this.block.nodes.push(node)
    return node
  }

  /** A node with one result. */
  add(action: Action, inputs: readonly Value[], type: Type): Value {
    if (isTooLarge(type)) throw this.wrong('a type of too many parts')
    return this.node(action, inputs).output(type)
  }

  constant(value: Constant, type = this.typeOfConstant(value)): Value {
    this.library.spend(1)
    return new Value(type, null, value)
  }

  list(element: Type, items: readonly Value[]): Value {
    const type = listOf(element)
    return this.add({ kind: 'LIST_CONSTRUCT', type: type.text }, items, type)
  }

  /** `[]` without annotation. */
  openList(): Value {
    const list = this.list(TENSOR, [])
    this.openLists.add(list)
    return list
  }

  isOpenList(value: Value): boolean {
    return this.openLists.has(value)
  }

  tuple(items: readonly Value[], type = tupleOfTypes(items.map((item) => item.type))): Value {
    return this.add({ kind: 'TUPLE_CONSTRUCT' }, items, type)
  }

  /** The elements of a tuple. */
  unpackTuple(tuple: Value): Value[] {
    if (!isTuple(tuple.type)) throw this.wrong(`expected a tuple to unpack, found ${tuple.type.text}`)
    const made = tuple.node
    if (made?.action.kind === 'TUPLE_CONSTRUCT') return [...made.inputs]
    const node = this.node({ kind: 'operator', entry: this.entry('prim::TupleUnpack') }, [tuple])
    return tuple.type.args.map((type) => node.output(type))
  }

  entry(name: string): OperatorEntry {
    const found = findOperator(name)
    if (found !== undefined) return this.library.noted(found)
    throw missingOperators([name])
  }

  /** A call of an operator of one result. */
  operator(name: string, inputs: readonly Value[], type: Type): Value {
    return this.add({ kind: 'operator', entry: this.entry(name) }, inputs, type)
  }

  typeOfConstant(value: Constant): Type {
    if (value === null) return NONE
    if (typeof value === 'boolean') return BOOL
    if (typeof value === 'number' || typeof value === 'bigint') return INT
    if (typeof value === 'string') return STR
    if (value instanceof Float) return FLOAT
    if (value instanceof Complex) return COMPLEX
    if (value instanceof Tensor) return TENSOR
    if (value instanceof Device) return DEVICE
    if (value instanceof Tuple) return this.library.typeOfTuple(value, () => value.items.map((item) => this.typeOfConstant(item)))
    if (Array.isArray(value)) {
      const named = listType(value)
      return listOf(value.length > 0 ? this.typeOfConstant(value[0]!) : named === undefined ? TENSOR : plainType(named))
    }
    if (value instanceof Map) {
      for (const [key, item] of value) return dictOf(this.typeOfConstant(key), this.typeOfConstant(item))
      return dictOf(STR, TENSOR)
    }
    if (value instanceof ScriptObject) return this.library.typeNamed(value.typeName) ?? UNKNOWN
    if (value instanceof CustomObject) return namedType('custom', CUSTOM_CLASSES + value.className)
    return UNKNOWN
  }

  /** Takes back what was appended since the block had `length` nodes. */
  rollBack(length: number): void {
    this.block.nodes.length = length
  }
}
