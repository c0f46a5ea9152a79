import { Float } from '../tensor/scalar.js'
import { Tensor } from '../tensor/tensor.js'
import { CustomObject, Device, ScriptObject, Tuple } from '../tensor/value.js'

/** A value's type and, where short, the value itself, for error messages. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (value instanceof Tensor) return `a ${value.dtype} tensor of shape [${value.shape.join(', ')}]`
  if (value instanceof Float) return `float ${value.value}`
  if (typeof value === 'number') return Number.isInteger(value) ? `int ${value}` : `float ${value}`
  if (typeof value === 'bigint') return `int ${value}`
  if (typeof value === 'boolean') return `bool ${value}`
  if (typeof value === 'string') return `str ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}, first ${describe(value[0])}`
  if (value instanceof Tuple) return `a tuple of ${value.items.length}`
  if (value instanceof Map) return `a dict of ${value.size}`
  if (value instanceof Device) return `device ${value.toString()}`
  if (value instanceof ScriptObject) return `an object of type ${value.typeName}`
  if (value instanceof CustomObject) return `an object of type ${value.className}`
  return typeof value
}
