import { check } from '../../../error.js'
import { TENSOR_ELEMENTS } from '../../../limits.js'
import { pace } from '../../../pace.js'
import { itemOf } from '../../../tensor/data.js'
import { Float } from '../../../tensor/scalar.js'
import { numelOf } from '../../../tensor/shape.js'
import type { Tensor } from '../../../tensor/tensor.js'
import { Device, ScriptObject, type Value } from '../../../tensor/value.js'
import { floatOf } from './scalar.js'

/** Equality of lists whose elements are ints, bools or strings. */
export function sameItems(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false
  pace(a.length)
  for (let i = 0; i < a.length; i++) {
    const item = a[i]!
    if (typeof item === 'string') pace(item.length >> 4)
    if (item !== b[i]) return false
  }
  return true
}

/** Equality of lists of floats: NaN differs from itself. */
export function sameFloats(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false
  pace(a.length)
  for (let i = 0; i < a.length; i++) if (floatOf(a[i]!) !== floatOf(b[i]!)) return false
  return true
}

/** The element of a one-element tensor, to be compared. Throws INVALID_ARGUMENT for other sizes. */
export function elementOf(t: Tensor): number | bigint {
  pace(TENSOR_ELEMENTS)
  check(numelOf(t.shape) === 1, () => `expected tensors of one element to compare in a list, found shape [${t.shape.join(', ')}]`)
  const item = itemOf(t)
  return typeof item === 'bigint' ? item : Number(item)
}

/** bool(a == b) of two one-element tensors. Throws INVALID_ARGUMENT for other sizes, whose truth value is ambiguous. */
export function sameTensors(a: Tensor, b: Tensor): boolean {
  const [x, y] = [elementOf(a), elementOf(b)]
  return x === y || (typeof x !== typeof y && Number(x) === Number(y))
}

/** bool(a < b) of two one-element tensors. Throws INVALID_ARGUMENT for other sizes. */
export function tensorLess(a: Tensor, b: Tensor): boolean {
  return elementOf(a) < elementOf(b)
}

/** `is` of two values: numbers, strings, bools, None and devices by value, all else by identity. */
export function sameIdentity(a: Value, b: Value): boolean {
  if (a instanceof Float && b instanceof Float) return a.value === b.value
  if (a instanceof Device && b instanceof Device) return sameDevice(a, b)
  return a === b
}

/** `cpu` and `cpu:0` differ. */
export function sameDevice(a: Device, b: Device): boolean {
  return a.type === b.type && a.index === b.index
}

/** Members of an enum are objects with a `value` and, where the file tells it, a `name`; equal values of one type are one member. */
export function sameEnum(a: Value, b: Value): boolean {
  if (a === b || !(a instanceof ScriptObject) || !(b instanceof ScriptObject)) return sameIdentity(a, b)
  return a.typeName === b.typeName && sameIdentity(enumSlot(a, 'value'), enumSlot(b, 'value'))
}

/** The `name` or `value` of an enum's member. Throws INVALID_ARGUMENT for any other value. */
export function enumSlot(member: Value, slot: 'name' | 'value'): Value {
  const at = member instanceof ScriptObject ? member.names.indexOf(slot) : -1
  check(
    at >= 0,
    () => `expected a member of an enum with its ${slot}, found ${member instanceof ScriptObject ? member.typeName : typeof member}`,
  )
  return (member as ScriptObject).slots[at]!
}
