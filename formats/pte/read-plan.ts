import { damaged, guarded, MAX_RANK, unsupported } from '../../program/file-error.js'
import type { FlatTable } from '../containers/flatbuffer/reader.js'
import { byteSizeOf, isLacking } from './attributes.js'
import type { ProgramData } from './data.js'
import type { Instruction, Plan, PlanValue, TensorData, TensorValue } from './plan.js'
import { Dynamism, Field, InstructionKind, Location, ValueKind } from './schema.js'

/** Reads a method. Every number of a value, operator, delegate or instruction in it is one that there is. */
export function readPlan(table: FlatTable, data: ProgramData): Plan {
  const field = Field.plan
  const name = table.text(field.name)
  return guarded(`method '${name}'`, () => {
    const values = table.tables(field.values).map((value, i) => guarded(`value ${i}`, () => readValue(value)))
    const check = checkOf(values.length)
    for (const value of values) {
      if (value.kind === 'ints') value.items.forEach(check)
      if (value.kind === 'tensors') value.items.forEach((item) => item !== null && check(item))
    }
    const operators = table.tables(field.operators).map((operator) => {
      const [base, overload] = [operator.text(Field.operator.name), operator.text(Field.operator.overload)]
      return overload === '' ? base : `${base}.${overload}`
    })
    const delegates = table.tables(field.delegates).map((delegate) => ({
      id: delegate.text(Field.delegate.id),
      payload: () => data.payload(delegate.table(Field.delegate.processed)),
    }))
    const chains = table.tables(field.chains)
    if (chains.length > 1) throw unsupported(`it has ${chains.length} chains of instructions; expected one`)
    const counts = { operators, delegates: delegates.length, values: values.length }
    const list = chains[0]?.tables(Field.chain.instructions) ?? []
    const containers = table.table(field.containers)
    const memories = table.list(field.bufferSizes, 8, (at) => Number(table.reader.int64(at)))
    values.forEach((value, i) => guarded(`value ${i}`, () => checkPlace(value, memories)))
    return {
      name,
      values,
      inputs: indices(table, field.inputs, check),
      outputs: indices(table, field.outputs, check),
      instructions: list.map((item, i) => guarded(`instruction ${i}`, () => readInstruction(item, counts, list.length))),
      delegates,
      memories,
      inputTree: containers?.text(Field.containers.inputs) ?? '',
      outputTree: containers?.text(Field.containers.outputs) ?? '',
    }
  })
}

type Check = (index: number) => void

function checkOf(count: number): Check {
  return (index) => {
    if (!(index >= 0 && index < count)) throw damaged(`it refers to value ${index}; there are ${count}`)
  }
}

function indices(table: FlatTable, field: number, check: Check): number[] {
  const list = table.int32s(field)
  list.forEach(check)
  return list
}

/** A tensor's elements, as many as there may be, are inside of its memory. */
function checkPlace(value: PlanValue, memories: readonly number[]): void {
  // what a method of another backend has need not be known here
  if (value.kind !== 'tensor' || value.place === null || isLacking(value.scalarType)) return
  const { memory, offset } = value.place
  const [bytes, size] = [byteSizeOf(value), memories[memory] ?? 0]
  if (offset + bytes > size) throw damaged(`a tensor of ${bytes} bytes at ${offset} of memory ${memory}, which has ${size}`)
}

function memberOf(table: FlatTable, field: number): FlatTable {
  const member = table.table(field)
  if (member === null) throw damaged('it is empty')
  return member
}

function readValue(table: FlatTable): PlanValue {
  const kind = table.uint8(Field.value.kind)
  if (kind === ValueKind.none) return { kind: 'none' }
  const member = memberOf(table, Field.value.value)
  const { reader } = member
  const { value } = Field.single
  switch (kind) {
    case ValueKind.int:
      return { kind: 'int', value: member.int64(value) }
    case ValueKind.bool:
      return { kind: 'bool', value: member.uint8(value) !== 0 }
    case ValueKind.double:
      return { kind: 'float', value: member.float64(value) }
    case ValueKind.string:
      return { kind: 'str', value: member.text(value) }
    case ValueKind.tensor:
      return readTensor(member)
    case ValueKind.intList:
      return { kind: 'ints', items: member.list(value, 8, (at) => Number(reader.int64(at))) }
    case ValueKind.doubleList:
      return { kind: 'floats', values: member.list(value, 8, (at) => reader.float64(at)) }
    case ValueKind.boolList:
      return { kind: 'bools', values: member.list(value, 1, (at) => reader.uint8(at) !== 0) }
    case ValueKind.tensorList:
    case ValueKind.optionalTensorList:
      return { kind: 'tensors', items: member.int32s(value).map((item) => (item === -1 ? null : item)) }
    default:
      throw unsupported(`it is of kind ${kind}, which is newer than this runtime`)
  }
}

function readTensor(table: FlatTable): TensorValue {
  const field = Field.tensor
  const sizes = table.int32s(field.sizes)
  const dimOrder = table.list(field.dimOrder, 1, (at) => table.reader.uint8(at))
  if (sizes.length > MAX_RANK || !sizes.every((size) => size >= 0)) throw damaged(`a tensor has the sizes [${sizes.join(', ')}]`)
  const order = dimOrder.length === 0 ? sizes.map((_, i) => i) : dimOrder
  if (order.length !== sizes.length || new Set(order).size !== order.length || !order.every((dim) => dim < sizes.length))
    throw damaged(`a tensor of ${sizes.length} dimensions has them in the order [${order.join(', ')}]`)
  if (table.int32(field.storageOffset) !== 0) throw unsupported('a tensor that begins behind the start of its memory')
  const dynamism = table.int8(field.dynamism)
  if (dynamism === Dynamism.unbound)
    throw unsupported('a tensor whose sizes have no bounds; give every dynamic dimension a maximum when the model is exported')
  const extra = table.table(field.extra)
  const allocation = table.table(field.allocation)
  return {
    kind: 'tensor',
    scalarType: table.int8(field.scalarType),
    sizes,
    dimOrder: order,
    isDynamic: dynamism === Dynamism.bound,
    data: dataOf(table, extra, allocation !== null),
    place:
      allocation === null
        ? null
        : {
            memory: allocation.uint32(Field.allocation.memory),
            offset: allocation.uint32(Field.allocation.offsetLow) + allocation.uint32(Field.allocation.offsetHigh) * 2 ** 32,
          },
    name: extra?.text(Field.extra.name) ?? '',
  }
}

function dataOf(table: FlatTable, extra: FlatTable | null, isAllocated: boolean): TensorData | null {
  if (extra?.int8(Field.extra.location) === Location.external) return { kind: 'external', key: extra.text(Field.extra.name) }
  const index = table.uint32(Field.tensor.dataIndex)
  if (index === 0) return null
  return isAllocated
    ? { kind: 'initial', segment: Number(extra?.int64(Field.extra.mutableSegment) ?? 0), index }
    : { kind: 'constant', index }
}

interface Counts {
  readonly operators: readonly string[]
  readonly delegates: number
  readonly values: number
}

function readInstruction(table: FlatTable, { operators, delegates, values }: Counts, count: number): Instruction {
  const kind = table.uint8(Field.instruction.kind)
  const member = memberOf(table, Field.instruction.value)
  const check = checkOf(values)
  const index = (field: number): number => {
    const value = member.int32(field)
    check(value)
    return value
  }
  switch (kind) {
    case InstructionKind.kernel: {
      const operator = operators[member.int32(Field.kernelCall.operator)]
      if (operator === undefined)
        throw damaged(`it calls operator ${member.int32(Field.kernelCall.operator)}; there are ${operators.length}`)
      return { kind: 'kernel', operator, args: indices(member, Field.kernelCall.args, check) }
    }
    case InstructionKind.delegate: {
      const delegate = member.int32(Field.delegateCall.delegate)
      if (!(delegate >= 0 && delegate < delegates)) throw damaged(`it calls delegate ${delegate}; there are ${delegates}`)
      return { kind: 'delegate', delegate, args: indices(member, Field.delegateCall.args, check) }
    }
    case InstructionKind.move:
      return { kind: 'move', from: index(Field.move.from), to: index(Field.move.to) }
    case InstructionKind.jumpFalse: {
      const destination = member.int32(Field.jump.destination)
      // the end is where a plan returns
      if (!(destination >= 0 && destination <= count)) throw damaged(`it jumps to ${destination}; there are ${count} instructions`)
      return { kind: 'jump', condition: index(Field.jump.condition), destination }
    }
    case InstructionKind.free:
      return { kind: 'free' }
    default:
      throw unsupported(`it is of kind ${kind}, which is newer than this runtime`)
  }
}
