import { Float } from '../tensor/scalar.js'
import { shapeText } from '../tensor/shape.js'
import { Tensor } from '../tensor/tensor.js'
import { CustomObject, Device, ScriptObject, Tuple } from '../tensor/value.js'

const CLASSES = [
  [Tensor, 'Tensor'],
  [Float, 'float'],
  [Array, 'list'],
  [Tuple, 'tuple'],
  [Map, 'dict'],
  [Device, 'device'],
] as const

/** Kind of a value as TorchScript calls it, for messages; what is no value is named as JavaScript does. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  if (typeof value === 'bigint') return 'int'
  if (typeof value !== 'object') return typeof value
  if (value instanceof ScriptObject) return value.typeName
  if (value instanceof CustomObject) return value.className
  const found = CLASSES.find(([one]) => value instanceof one)
  return found === undefined ? `an object of ${(value.constructor as { name?: string } | undefined)?.name ?? 'no class'}` : found[1]
}

/** A value's kind and, where short, the value itself, for error messages. */
export function describe(value: unknown): string {
  const kind = kindOf(value)
  if (typeof value === 'string') return `str ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
  if (value instanceof Tensor) return `a ${value.dtype} tensor of shape ${shapeText(value.shape)}`
  if (value instanceof Tuple) return `a tuple of ${value.items.length}`
  if (value instanceof Map) return `a dict of ${value.size}`
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}, first ${describe(value[0])}`
  if (typeof value !== 'object' || value instanceof Float || value instanceof Device)
    return kind === 'None' ? kind : `${kind} ${String(value)}`
  return value instanceof ScriptObject || value instanceof CustomObject ? `an object of type ${kind}` : kind
}
