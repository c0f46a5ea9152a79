import { PtliteError } from '../error.js'
import { Float } from '../tensor/scalar.js'
import { Tensor } from '../tensor/tensor.js'
import { CustomObject, Device, type DictKey, ScriptObject, Tuple, type Value } from '../tensor/value.js'

/** The file is damaged, or was never a module. */
export function damaged(message: string): PtliteError {
  return new PtliteError('INVALID_FILE', message)
}

/** The file is well formed, but asks for something that this runtime does not do. */
export function unsupported(message: string): PtliteError {
  return new PtliteError('UNSUPPORTED_FILE', message)
}

/** Runs `read`; whatever it throws that is not a PtliteError means a damaged file. */
export function guarded<T>(label: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof PtliteError) throw error
    throw new PtliteError('INVALID_FILE', `${label}: the file is damaged (${(error as Error).message})`, { cause: error })
  }
}

/** What a value is, for messages. */
export function describe(value: Value | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'None'
  if (typeof value === 'number' || typeof value === 'bigint') return `the int ${value}`
  if (typeof value === 'boolean') return `the bool ${value}`
  if (typeof value === 'string') return `the text '${value.slice(0, 60)}'`
  if (value instanceof Float) return `the float ${value.value}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value instanceof Tuple) return `a tuple of ${value.items.length}`
  if (value instanceof Map) return `a dict of ${value.size}`
  if (value instanceof Tensor) return 'a tensor'
  if (value instanceof ScriptObject) return `an object of class ${value.typeName}`
  if (value instanceof CustomObject) return `an object of class ${value.className}`
  if (value instanceof Device) return `the device ${value.toString()}`
  return 'an unknown value'
}

/** `value` as a tuple of exactly `count` elements, or of any count; `what` names it in the error. */
export function tupleOf(value: Value | undefined, what: string, count?: number): readonly Value[] {
  if (!(value instanceof Tuple) || (count !== undefined && value.items.length !== count)) {
    const expected = count === undefined ? 'a tuple' : `a tuple of ${count}`
    throw damaged(`${what}: expected ${expected}, found ${describe(value)}`)
  }
  return value.items
}

export function textOf(value: Value | undefined, what: string): string {
  if (typeof value !== 'string') throw damaged(`${what}: expected a text, found ${describe(value)}`)
  return value
}

/** `value` as an integer between `min` and `max`. */
export function integerOf(value: Value | undefined, what: string, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || value < min || value > max) {
    throw damaged(`${what}: expected an int from ${min} to ${max}, found ${describe(value)}`)
  }
  return value
}

/** PyTorch's limit. */
export const MAX_RANK = 64

/** `value` as a tuple or list of integers that are not negative: sizes, strides. */
export function sizesOf(value: Value | undefined, what: string): number[] {
  const items = value instanceof Tuple ? value.items : value
  if (!Array.isArray(items)) throw damaged(`${what}: expected a tuple of ints, found ${describe(value)}`)
  if (items.length > MAX_RANK) throw damaged(`${what}: expected at most ${MAX_RANK} dimensions, found ${items.length}`)
  return items.map((item) => integerOf(item, what, 0))
}

/** `cpu`, `cuda:0` */
export function deviceOf(text: string, what: string): Device {
  const match = /^([a-z]+)(?::(\d{1,4}))?$/.exec(text)
  if (match === null) throw damaged(`${what}: expected a device such as cpu or cuda:0, found '${text.slice(0, 60)}'`)
  return new Device(match[1]!, match[2] === undefined ? null : Number(match[2]))
}

/** `value` as key of a dict, where floats are plain numbers. */
export function dictKeyOf(value: Value, what: string): DictKey {
  if (value instanceof Float) return value.value
  if (value instanceof Tensor) return value
  if (value === null || typeof value === 'object')
    throw damaged(`${what}: expected a str, number or tensor as key of a dict, found ${describe(value)}`)
  return value
}

/** The text `T` of `List[T]`; undefined for other types. */
export function elementTypeOf(type: string): string | undefined {
  return /^List\[([^]*)\]$/.exec(type.trim())?.[1]?.trim()
}
