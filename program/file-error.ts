import { PtliteError } from '../runtime/error.js'
import { pace } from '../runtime/pace.js'
import { describe } from '../runtime/tensor/describe.js'
import { Float, isComplexNumber } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { Device, type DictKey, Tuple, type Value } from '../runtime/tensor/value.js'

/** The file is damaged, or was never a module. Which file, `guarded` adds. */
export function damaged(message: string): PtliteError {
  return new PtliteError('INVALID_FILE', message)
}

/** The file is well formed, but asks for something that this runtime does not do. */
export function unsupported(message: string): PtliteError {
  return new PtliteError('UNSUPPORTED_FILE', message)
}

/** The file is damaged: `value` stands where something else should. */
export function unexpected(expected: string, value: Value | undefined): PtliteError {
  return damaged(`expected ${expected}, found ${describe(value)}`)
}

/**
 * Runs `read`, and puts `label` in front of its errors about files, unless they have it already. Whatever it throws that is not a
 * PtliteError means a damaged file.
 */
export function guarded<T>(label: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    const { message } = cause as Error
    if (!(cause instanceof PtliteError)) throw new PtliteError('INVALID_FILE', `${label}: the file is damaged (${message})`, { cause })
    if (!cause.code.endsWith('_FILE') || message.startsWith(label)) throw cause
    throw new PtliteError(cause.code, `${label}: ${message}`, { cause })
  }
}

/** The elements of a tuple, `least` to `most` of them. */
export function tupleOf(value: Value | undefined, least = 0, most = least === 0 ? Infinity : least): readonly Value[] {
  if (value instanceof Tuple && value.items.length >= least && value.items.length <= most) return value.items
  throw unexpected(`a tuple of ${least === most ? least : `${least} to ${most}`}`, value)
}

export function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') throw unexpected('a text', value)
  return value
}

/** Characters of a type: more than anybody writes. */
const MAX_TYPE_CHARACTERS = 1 << 16

/** The text of a type, which many values may have in common. */
export function typeTextOf(value: Value | undefined): string {
  const text = textOf(value)
  if (text.length > MAX_TYPE_CHARACTERS) throw damaged(`a type of more than ${MAX_TYPE_CHARACTERS} characters`)
  pace(text.length >> 2)
  return text
}

/** `value` as an integer between `min` and `max`. */
export function integerOf(value: Value | undefined, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || value < min || value > max) throw unexpected(`an int from ${min} to ${max}`, value)
  return value
}

/** PyTorch's limit. */
export const MAX_RANK = 64

/** `value` as a tuple or list of integers that are not negative: sizes, strides. */
export function sizesOf(value: Value | undefined): number[] {
  const items = value instanceof Tuple ? value.items : value
  if (!Array.isArray(items) || items.length > MAX_RANK) throw unexpected(`at most ${MAX_RANK} ints`, value)
  return items.map((item) => integerOf(item, 0))
}

/** `cpu`, `cuda:0` */
export function deviceOf(text: string): Device {
  const match = /^([a-z]+)(?::(\d{1,4}))?$/.exec(text)
  if (match === null) throw unexpected('a device such as cpu or cuda:0', text)
  return new Device(match[1]!, match[2] === undefined ? null : Number(match[2]))
}

/** `value` as key of a dict, where floats are plain numbers. */
export function dictKeyOf(value: Value): DictKey {
  if (value instanceof Float) return value.value
  if (value === null || (typeof value === 'object' && !(value instanceof Tensor || isComplexNumber(value))))
    throw unexpected('a str, number or tensor as key of a dict', value)
  return value
}

/** The text `T` of `List[T]`; undefined for other types. */
export function elementTypeOf(type: string): string | undefined {
  return /^List\[([^]*)\]$/.exec(type.trim())?.[1]?.trim()
}
