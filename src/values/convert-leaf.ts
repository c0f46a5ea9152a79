import { PtliteError } from '../../runtime/error.js'
import { visitTensors } from '../../program/reach.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { type Complex, Float, int, isComplexNumber } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, Device, type DictKey, ScriptObject, type Value } from '../../runtime/tensor/value.js'
import { adopted } from './foreign.js'

/** What callers get: ints and floats are numbers (bigint past 2^53), complex numbers Complex, tuples are arrays, devices are strings. */
export type Output =
  null | boolean | number | bigint | Complex | string | Tensor | Output[] | Map<DictKey, Output> | ScriptObject | CustomObject

/** Of objects that callers may pass and that hold no others which they made themselves. */
const CLASSES = [Float, Device, CustomObject, ScriptObject]

/** True for a value of the runtime that holds no others. */
export function isLeaf(value: unknown): value is Value {
  if (typeof value !== 'object') return !['undefined', 'function', 'symbol'].includes(typeof value)
  if (value === null) return true
  if (value instanceof Tensor) return Tensor.isOne(value) && Tensor.argument(value) === value
  return CLASSES.some((one) => value instanceof one) || isComplexNumber(value)
}

/** An integral number is an int. */
export function valueOfNumber(x: number | bigint): Value {
  return typeof x === 'bigint' || Number.isInteger(x) ? int(x) : new Float(x)
}

/** A plain number of the caller has the type that it looks like. */
export function wholeValue(value: Value): Value {
  return typeof value === 'number' || typeof value === 'bigint' ? valueOfNumber(value) : value
}

/** An argument that holds no others. */
export function leafValue(input: unknown): Value {
  if (input === undefined) return null
  if (isLeaf(input)) return input
  if (input instanceof Tensor && Tensor.isOne(input)) return Tensor.argument(input)
  const value = typeof input === 'object' ? adopted(input!) : undefined
  if (value !== undefined) return value
  throw new PtliteError('INVALID_ARGUMENT', `expected None, bool, number, string, Tensor, tuple, array or Map, found ${kindOf(input)}`)
}

/** The caller's form of a value that is no list, tuple or dict. */
export function outputOfLeaf(value: Value): Value | Output {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Tensor) {
    if (!Tensor.isHanded(value)) Tensor.expose(value)
    return value
  }
  if (value instanceof Float) return value.value
  if (value instanceof Device) return value.toString()
  // callers can reach what it holds
  visitTensors(value, Tensor.expose)
  return value
}
