import { Opcode } from '../program/generated/opcodes.js'
import { PtliteError } from '../runtime/error.js'
import { describe } from '../runtime/tensor/describe.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { grow, growBy } from '../runtime/tensor/element-budget.js'
import { Complex, Float, scalarToBigInt, toInt } from '../runtime/tensor/scalar.js'
import { Device, type DictKey, keyIn, ScriptObject, setListType, type Stack, Tuple, type Value } from '../runtime/tensor/value.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Lifetimes } from './lifetime.js'
import type { LinkedFunction } from '../program/linked.js'
import type { ProgramInstance } from './run-state.js'
import { type TypeNode, typeText } from '../program/types.js'
import { matchesType } from '../program/type-match.js'
import { argumentCount } from '../program/verifier.js'

/** What the instructions do that is more than a move. All of them work on the top of the stack. */

function modelError(message: string): never {
  throw new PtliteError('MODEL_ERROR', message)
}

export function toBool(value: Value): boolean {
  if (typeof value === 'boolean') return value
  return modelError(`a condition must be a bool, found ${kindOf(value)}`)
}

export function toObject(value: Value): ScriptObject {
  if (value instanceof ScriptObject) return value
  return modelError(`expected an object with attributes, found ${kindOf(value)}`)
}

export function noSlot(object: ScriptObject, slot: number): never {
  return modelError(`object of ${object.typeName} has ${object.slots.length} attributes, the code asks for number ${slot}`)
}

/** SET_ATTR: attributes of an object that was just made come one by one. */
export function setAttribute(program: ProgramInstance, object: ScriptObject, slot: number, value: Value): void {
  program.attributeWrites++
  if (slot >= object.slots.length) grow(slot + 1 - object.slots.length)
  while (object.slots.length < slot) object.slots.push(null)
  object.slots[slot] = value
}

function toTensor(value: Value): Tensor {
  if (value instanceof Tensor) return value
  return modelError(`expected a Tensor, found ${kindOf(value)}`)
}

function toTuple(value: Value): Tuple {
  if (value instanceof Tuple) return value
  return modelError(`expected a tuple, found ${kindOf(value)}`)
}

/**
 * LOOP: the topmost n+1 values are trip count, maximum, condition and the carried values. Steps to the next
 * iteration and returns true, or leaves only the carried values and returns false.
 */
export function nextIteration(stack: Stack, n: number): boolean {
  const { values } = stack
  const frame = stack.top - n - 1
  const trip = scalarToBigInt(values[frame] as number)
  const max = scalarToBigInt(values[frame + 1] as number)
  if (toBool(values[frame + 2]!) && trip < max) {
    values[frame + 2] = values[frame]!
    values[frame] = toInt(trip + 1n)
    return true
  }
  for (let i = 0; i < n - 2; i++) values[frame + i] = values[frame + 3 + i]!
  stack.top -= 3
  return false
}

export function findInterfaceMethod(program: ProgramInstance, stack: Stack, name: Value, n: number): LinkedFunction {
  const object = toObject(stack.values[stack.top - n]!)
  const fn = typeof name === 'string' ? program.findMethod(object.typeName, name) : undefined
  if (fn === undefined) return modelError(`${object.typeName} has no method ${describe(name)}`)
  const expected = argumentCount(fn.source)
  if (n !== expected) return modelError(`${fn.source.name} takes ${expected} arguments, the call gives ${n}`)
  return fn
}

export function wrongResults(name: string, found: number, expected: number): never {
  return modelError(`${name}: expected ${expected} values to unpack, found ${found}`)
}

export function unpackList(stack: Stack, n: number): void {
  const list = stack.values[--stack.top]!
  if (!Array.isArray(list)) return modelError(`expected a list to unpack, found ${kindOf(list)}`)
  if (list.length !== n) return modelError(`expected a list of ${n} values to unpack, found ${list.length}`)
  for (let i = 0; i < n; i++) {
    stack.values[stack.top++] = list[i]!
  }
}

/** Replaces the `n` topmost values with what `make` builds of them; their counts move into it. */
export function construct(stack: Stack, n: number, make: (items: Value[]) => Value): void {
  growBy(n)
  const base = stack.top - n
  stack.values[base] = make(stack.values.slice(base, stack.top))
  stack.top = base + 1
}

export function constructList(stack: Stack, type: TypeNode, n: number): void {
  growBy(n)
  const base = stack.top - n
  const items = stack.values.slice(base, stack.top)
  if (n === 0 && type.args.length > 0) setListType(items, typeText(type.args[0]!))
  stack.values[base] = items
  stack.top = base + 1
}

/** A dict key of a value: floats are plain numbers. */
export function dictKey(value: Value): DictKey {
  if (value instanceof Float) return value.value
  if (value instanceof Tensor || value instanceof Complex) return value
  if (typeof value === 'object') return modelError(`a dict key must be a str, number, bool or Tensor, found ${kindOf(value)}`)
  return value
}

export function constructDict(stack: Stack, n: number): Map<DictKey, Value> {
  if (n % 2 !== 0) return modelError(`a dict needs keys and values in pairs, found ${n} values`)
  growBy(n)
  const dict = new Map<DictKey, Value>()
  const base = stack.top - n
  for (let i = base; i < stack.top; i += 2) dict.set(keyIn(dict, dictKey(stack.values[i]!)), stack.values[i + 1]!)
  stack.values[base] = dict
  stack.top = base + 1
  return dict
}

export function isInstance(value: Value, types: readonly TypeNode[], first: number, count: number): boolean {
  for (let i = first; i < first + count; i++) if (matchesType(value, types[i]!)) return true
  return false
}

export function sliceTuple(stack: Stack, start: number, count: number, lifetimes: Lifetimes): void {
  const tuple = toTuple(stack.values[stack.top - 1]!)
  if (start < 0 || start + count > tuple.items.length) {
    return modelError(`tuple of ${tuple.items.length} has no elements ${start} to ${start + count - 1}`)
  }
  growBy(count)
  lifetimes.pin(tuple)
  stack.values[stack.top - 1] = new Tuple(tuple.items.slice(start, start + count))
}

export function indexTuple(stack: Stack, lifetimes: Lifetimes): void {
  const index = stack.values[--stack.top]!
  const tuple = toTuple(stack.values[stack.top - 1]!)
  const n = tuple.items.length
  if (typeof index !== 'number' || index < -n || index >= n) return modelError(`tuple of ${n} has no element ${describe(index)}`)
  lifetimes.pin(tuple)
  stack.values[stack.top - 1] = tuple.items[index < 0 ? index + n : index]!
}

export function indexDict(stack: Stack): void {
  const index = dictKey(stack.values[--stack.top]!)
  const dict = stack.values[stack.top - 1]!
  if (!(dict instanceof Map)) return modelError(`expected a dict, found ${kindOf(dict)}`)
  const key = keyIn(dict, index)
  if (!dict.has(key)) return modelError(`KeyError: ${typeof key === 'string' ? `'${key}'` : String(key)}`)
  stack.values[stack.top - 1] = dict.get(key)!
}

/** `is` of Python: one object for references, equality for plain values. */
export function isSame(a: Value, b: Value): boolean {
  if (a instanceof Float && b instanceof Float) return a.value === b.value
  if (a instanceof Device && b instanceof Device) return a.toString() === b.toString()
  return a === b
}

const CPU = new Device('cpu')

/** DEVICE, DTYPE, DIM and IS_CUDA of a tensor. */
export function describeTensor(opcode: number, value: Value): Value {
  const tensor = toTensor(value)
  switch (opcode) {
    case Opcode.DEVICE:
      return CPU
    case Opcode.DTYPE:
      return tensor.type
    case Opcode.DIM:
      return tensor.dim
    default:
      return false
  }
}
