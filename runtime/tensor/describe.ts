import { shapeText } from './shape.js'
import { Tensor } from './tensor.js'
import { kindOf } from './kind-of.js'
import { Float, isComplexNumber } from './scalar.js'
import { Device, Tuple } from './value.js'

/** A value's kind and, where short, the value itself, for error messages. */
export function describe(value: unknown): string {
  const kind = kindOf(value)
  if (value instanceof Tensor && Tensor.isOne(value)) return `a ${value.dtype} tensor of shape ${shapeText(value.shape)}`
  if (Array.isArray(value)) return `${kind} of ${value.length}`
  if (value instanceof Tuple) return `${kind} of ${value.items.length}`
  if (value instanceof Map) return `${kind} of ${value.size}`
  if (typeof value === 'string') return `${kind} ${JSON.stringify(value.slice(0, 40))}`
  const isNumber = value instanceof Float || isComplexNumber(value)
  const isShort = value !== null && (typeof value !== 'object' || isNumber || value instanceof Device)
  return isShort && value !== undefined ? `${kind} ${String(value)}` : kind
}
