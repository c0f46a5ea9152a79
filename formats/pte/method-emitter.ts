import type { ResultBounds, ResultSizes } from '../../program/code.js'
import { damaged, unsupported } from '../../program/file-error.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import type { Attributes } from './attributes.js'
import { MIXED } from './flow.js'
import { type Form, inverseOf, isOrdered, isSameForm } from './form.js'
import type { PlanValue, TensorValue } from './plan.js'
import type { Variables } from './variables.js'

const SELF = 1
const LIST = /^(.*)\[\d*\]$/
/** Names of the elements of lists, as TorchScript has them. */
const ELEMENTS: Readonly<Record<string, string>> = { SymInt: 'int', SymBool: 'bool', Scalar: 'number', ScalarType: 'int' }

/** Kinds of the numbers that schemas' types stand for. */
const NUMBERS: Readonly<Record<string, Kind>> = {
  int: 'int',
  SymInt: 'int',
  float: 'float',
  bool: 'bool',
  Scalar: 'number',
  number: 'number',
}
/** What makes a number one of another kind. */
const CASTS: Readonly<Partial<Record<Kind, Readonly<Partial<Record<Kind, string>>>>>> = {
  int: { float: 'aten::Int.float', bool: 'aten::Int.bool', number: 'aten::Int.Scalar' },
  float: { int: 'aten::Float.int', bool: 'aten::Float.bool', number: 'aten::Float.Scalar' },
  bool: { int: 'aten::Bool.int', float: 'aten::Bool.float' },
}

/** What a value is: a number of a kind that is not known before it is computed is a 'number'. */
export type Kind = PlanValue['kind'] | 'number'

/** What a variable that outlives a call is: the attribute that holds it, and the value whose form that has. */
export interface State {
  readonly slot: number
  readonly value: number
}

/** Writes values of a plan onto the stack, and what is on it into them. */
export class MethodEmitter {
  private readonly registers = new Map<string, number>()
  /** Of numbers that were computed. */
  private readonly kinds = new Map<number, Kind>()
  /** Of rows that loops make, by their results. */
  private readonly rows = new Map<number, number>()
  private call: Pick<ResultBounds, 'of' | 'bytes'> | null = null
  /** The form of what variables hold, by the value that it was written as. */
  private contents = new Map<string, number>()

  constructor(
    readonly builder: CodeBuilder,
    readonly variables: Variables,
    readonly attributes: Attributes,
    private readonly states: ReadonlyMap<string, State>,
    /** Variables whose memory is written to in part, or seen by others. */
    private readonly shared: ReadonlySet<string>,
    private readonly results: ReadonlySet<number>,
  ) {}

  /** What is written from here on is this call of the file; null: of none. Its results have the sizes that the file says, whatever `bytes` tensors take on the way. */
  enterCall(call: Pick<ResultBounds, 'of' | 'bytes'> | null): void {
    this.call = call
  }

  /** The operator that was called last gives these values: the sizes that the file says of them hold. */
  bound(results: readonly (number | null)[]): void {
    if (this.call === null) return
    const said = results.flatMap((index): (ResultSizes | null)[] => {
      const value = index === null ? null : this.value(index)
      if (value?.kind === 'tensor') return [{ sizes: value.sizes, areBounds: value.isDynamic }]
      return value === null || value.kind === 'none' ? [null] : []
    })
    this.boundTo(said)
  }

  /** The operator that was called last gives tensors of these sizes. */
  boundTo(said: readonly (ResultSizes | null)[]): void {
    if (this.call !== null && said.some((sizes) => sizes !== null)) this.builder.bound({ ...this.call, results: said })
  }

  value(index: number): PlanValue {
    return this.variables.value(index)
  }

  tensor(index: number): TensorValue {
    const value = this.value(index)
    if (value.kind !== 'tensor') throw damaged(`expected a tensor as value ${index}, found ${value.kind}`)
    return value
  }

  /** What is in a value: numbers that are computed may be of another kind than their place in the file says. */
  kindOf(index: number): Kind {
    const { kind } = this.value(index)
    return this.kinds.get(index) ?? (kind === 'none' && this.variables.keyOf(index) !== null ? 'number' : kind)
  }

  /** From here on variables hold this: another path leads here. */
  enter(contents: ReadonlyMap<string, number>): void {
    this.contents = new Map(contents)
  }

  /** The register of a variable. */
  register(key: string): number {
    let register = this.registers.get(key)
    if (register === undefined) {
      register = this.builder.allocate()
      this.registers.set(key, register)
    }
    return register
  }

  operator(name: string, given: number): void {
    this.builder.operator(name, given)
  }

  constant(value: Value): void {
    this.builder.constant(value)
  }

  /** Whether a result may share memory with an argument: nobody writes to either. */
  mayAlias(from: number, to: number): boolean {
    return !this.isShared(from) && !this.isShared(to)
  }

  isShared(index: number): boolean {
    return this.variables.items(index).some((item) => {
      const key = this.variables.keyOf(item)
      return key !== null && (this.shared.has(key) || this.states.has(key))
    })
  }

  isState(index: number): boolean {
    const key = this.variables.keyOf(index)
    return key !== null && this.states.has(key)
  }

  isResult(index: number): boolean {
    return this.results.has(index)
  }

  pushAttribute(slot: number): void {
    this.builder.emit('LOAD', SELF)
    this.builder.emit('GET_ATTR', slot)
  }

  /** Pushes a value as it is. */
  push(index: number): void {
    const { builder } = this
    const value = this.value(index)
    const key = this.variables.keyOf(index)
    switch (value.kind) {
      case 'tensor':
        return this.pushTensor(index, value, key)
      case 'ints':
        return this.pushItems(value.items, 'int')
      case 'tensors':
        return this.pushItems(value.items, value.items.includes(null) ? 'Optional[Tensor]' : 'Tensor')
      case 'floats':
        return this.pushConstants(
          value.values.map((item) => new Float(item)),
          'float',
        )
      case 'bools':
        return this.pushConstants(value.values, 'bool')
      default:
        if (key !== null) builder.emit('LOAD', this.register(key))
        else builder.constant(constantOf(value))
    }
  }

  private pushConstants(values: readonly Value[], element: string): void {
    if (values.length > 0) return this.builder.constant([...values])
    this.builder.emit('LIST_CONSTRUCT', this.builder.type(element), 0)
  }

  private pushItems(items: readonly (number | null)[], element: string): void {
    const { builder } = this
    const constants = items.map((item) => (item === null ? undefined : this.knownInt(item)))
    if (element === 'int' && items.length > 0 && !constants.includes(undefined)) return builder.constant(constants as Value[])
    for (const item of items) {
      if (item === null) builder.constant(null)
      else this.pushAs(item, element === 'Optional[Tensor]' ? 'Tensor?' : element)
    }
    builder.emit('LIST_CONSTRUCT', builder.type(element), items.length)
  }

  /** The number that an int always is; undefined for others. */
  knownInt(index: number): number | bigint | undefined {
    const value = this.value(index)
    return value.kind === 'int' && this.variables.keyOf(index) === null ? value.value : undefined
  }

  /** Pushes a value as a schema's type says. Throws INVALID_FILE where it is of another. */
  pushAs(index: number, type: string): void {
    const { builder } = this
    const value = this.value(index)
    if (type.endsWith('?')) {
      if (value.kind === 'none') return builder.constant(null)
      return this.pushAs(index, type.slice(0, -1))
    }
    const list = LIST.exec(type)
    if (list !== null) return this.pushList(index, value, list[1]!)
    if (this.variables.keyOf(index) !== null && value.kind !== 'tensor') return this.pushNumber(index, type)
    switch (type) {
      case 'Tensor':
        if (value.kind === 'tensor') return this.push(index)
        break
      case 'int':
      case 'SymInt':
      case 'ScalarType':
      case 'Layout':
      case 'MemoryFormat':
        if (value.kind === 'int') return this.push(index)
        if (value.kind === 'bool') return builder.constant(Number(value.value))
        break
      case 'float':
        if (value.kind === 'float') return this.push(index)
        if (value.kind === 'int') return builder.constant(new Float(Number(value.value)))
        break
      case 'bool':
        if (value.kind === 'bool') return this.push(index)
        if (value.kind === 'int') return builder.constant(value.value !== 0)
        break
      case 'Scalar':
      case 'number':
        if (value.kind === 'int' || value.kind === 'float' || value.kind === 'bool') return this.push(index)
        break
      case 'str':
        if (value.kind === 'str') return this.push(index)
        break
      case 'Device':
        break
      default:
        return this.push(index)
    }
    throw damaged(`expected ${type} as value ${index}, found ${value.kind}`)
  }

  /** Pushes what is computed, as a number of a schema's type. */
  private pushNumber(index: number, type: string): void {
    const kind = this.kindOf(index)
    this.push(index)
    const wanted = NUMBERS[type]
    if (wanted === undefined) throw damaged(`expected ${type} as value ${index}, found ${kind}`)
    this.convert(kind, wanted)
  }

  /** Turns the number on the stack into one of another kind. */
  convert(from: Kind, to: Kind): void {
    if (from === to || to === 'number') return
    const found = CASTS[to]?.[from]
    if (found === undefined) throw damaged(`expected ${to}, found ${from}`)
    this.operator(found, 1)
  }

  private pushList(index: number, value: PlanValue, element: string): void {
    const name = ELEMENTS[element] ?? element
    if (value.kind === 'ints' && (name === 'float' || name === 'number' || name === 'bool')) {
      for (const item of value.items) this.pushAs(item, element)
      return this.builder.emit('LIST_CONSTRUCT', this.builder.type(name), value.items.length)
    }
    // an optional list of tensors may say that none of its items is missing
    if (value.kind === 'tensors' && element === 'Tensor?') return this.pushItems(value.items, 'Optional[Tensor]')
    const fits =
      (value.kind === 'ints' && name === 'int') ||
      (value.kind === 'tensors' && name === 'Tensor' && !value.items.includes(null)) ||
      (value.kind === 'floats' && (name === 'float' || name === 'number')) ||
      (value.kind === 'bools' && name === 'bool')
    if (!fits) throw damaged(`expected ${element}[] as value ${index}, found ${value.kind}`)
    this.push(index)
  }

  private pushTensor(index: number, value: TensorValue, key: string | null): void {
    const { builder } = this
    if (key === null) {
      const { data } = value
      if (data === null) throw damaged(`value ${index} has no data`)
      const name =
        value.name !== '' ? value.name : data.kind === 'external' ? data.key : `constant_${data.kind === 'constant' ? data.index : index}`
      return this.pushAttribute(this.attributes.constant(dataKey(value), name, value, data))
    }
    const state = this.states.get(key)
    if (state !== undefined) {
      this.pushAttribute(state.slot)
      return this.reinterpret(this.tensor(state.value), value)
    }
    const content = this.contents.get(key)
    if (content === undefined) throw damaged(`value ${index} is used before it is set`)
    builder.emit('LOAD', this.register(key))
    this.reinterpret(content === MIXED ? null : this.tensor(content), value)
  }

  /** The tensor on the stack, whose memory is of one form, as one of another on the same memory. `from` is null where it is one of several. */
  private reinterpret(from: Form | null, to: Form): void {
    if (from !== null && (isSameForm(from, to) || from.isDynamic || to.isDynamic)) return
    if (from === null && to.isDynamic) return
    if (from !== null && from.scalarType !== to.scalarType) throw unsupported('memory of one dtype is read as one of another')
    if ((from === null || isOrdered(from)) && isOrdered(to)) {
      this.constant([...to.sizes])
      return this.operator('aten::reshape', 2)
    }
    if (from !== null) {
      this.constant([...from.dimOrder])
      this.operator('aten::permute', 2)
    }
    this.constant(to.dimOrder.map((dim) => to.sizes[dim]!))
    this.operator('aten::reshape', 2)
    this.constant(inverseOf(to.dimOrder))
    this.operator('aten::permute', 2)
  }

  /** Stores the top of the stack as a value; of a number `kind` says what it is. */
  store(index: number, kind?: Kind): void {
    const { builder } = this
    const value = this.value(index)
    const key = this.variables.keyOf(index)
    this.bound([index])
    if (value.kind !== 'tensor' && kind !== undefined) this.kinds.set(index, kind)
    if (value.kind === 'none' && key === null) return builder.emit('DROP')
    if (key === null) throw damaged(`value ${index}, which is written to, is a constant`)
    const state = this.states.get(key)
    if (state === undefined) {
      builder.emit('STORE', this.register(key))
      if (value.kind === 'tensor') this.contents.set(key, this.variables.likeOf(index))
      return
    }
    // what outlives the call stays where it is
    const result = builder.allocate()
    builder.emit('STORE', result)
    this.push(index)
    builder.emit('LOAD', result)
    builder.operator('aten::copy_', 2)
    builder.emit('DROP')
  }

  /** Stores the list on the stack as the values of a list. */
  storeList(items: readonly (number | null)[]): void {
    this.bound(items)
    this.builder.emit('LIST_UNPACK', items.length)
    for (const item of [...items].reverse()) {
      if (item === null) this.builder.emit('DROP')
      else this.store(item)
    }
  }

  /** A register that no variable has. */
  temporary(): number {
    return this.builder.allocate()
  }

  /** The register of all rows of a loop's result, which is made where this is called first: before the loop. */
  rowsOf(index: number): number {
    const { builder } = this
    let register = this.rows.get(index)
    if (register !== undefined) return register
    register = builder.allocate()
    this.rows.set(index, register)
    const { sizes, scalarType } = this.tensor(index)
    builder.constant([...sizes])
    builder.constant(scalarType)
    builder.operator('aten::zeros', 2)
    builder.emit('STORE', register)
    return register
  }
}

/** Tells constants apart. */
function dataKey({ data }: TensorValue): string {
  return data === null ? '' : data.kind === 'external' ? `x${data.key}` : `c${data.index}`
}

/** A number, text or None as a constant of code. */
export function constantOf(value: PlanValue): Value {
  switch (value.kind) {
    case 'int':
    case 'bool':
    case 'str':
      return value.value
    case 'float':
      return new Float(value.value)
    default:
      return null
  }
}
