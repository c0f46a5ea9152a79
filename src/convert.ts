import { absent, PtliteError } from '../runtime/error.js'
import { HOLDS_ARGUMENTS, HOLDS_COMPLEX } from '../runtime/held.js'
import { matchesType, type TypeNode, typeText } from '../runtime/interpreter/types.js'
import { kindOf } from '../runtime/tensor/describe.js'
import { Complex, Float, int } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { CustomObject, Device, type DictKey, ScriptObject, Tuple, type Value } from '../runtime/tensor/value.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { adopted } from './foreign.js'

/**
 * What callers may pass. A plain number becomes what the schema asks for; where the schema takes any number, an
 * integral one is an int. Arrays are lists and Maps are dicts, both by reference.
 */
export type Input =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | Float
  | Complex
  | string
  | Tensor
  | Tuple
  | readonly Input[]
  | ReadonlyMap<DictKey, Input>
  | ScriptObject
  | CustomObject
  | Device

/** What callers get: ints and floats are numbers (bigint past 2^53), complex numbers Complex, tuples are arrays, devices are strings. */
export type Output =
  null | boolean | number | bigint | Complex | string | Tensor | Output[] | Map<DictKey, Output> | ScriptObject | CustomObject

/** A tuple argument. */
export function tuple(...items: Input[]): Tuple {
  if (!HOLDS_ARGUMENTS) throw absent('an argument that is no tensor', 'INVALID_ARGUMENT')
  return reading(() => new Tuple(items.map((item) => toValue(item))))
}

/** The runtime's value of an argument whose type the operator itself will check. */
export function toValue(input: Input): Value {
  if (input instanceof Tensor) return input
  if (typeof input === 'number') return Number.isInteger(input) ? int(input) : new Float(input)
  if (typeof input === 'bigint') return int(input)
  if (input === null || input === undefined) return null
  if (typeof input === 'string' || typeof input === 'boolean' || CLASSES.some((one) => input instanceof one)) return input as Value
  if (Array.isArray(input)) return isOwn(input) ? (input as Value[]) : input.map(toValue)
  if (input instanceof Map) return isOwn(input) ? input : mapOf(input as Map<unknown, unknown>)
  const value = typeof input === 'object' ? adopted(input) : undefined
  if (value !== undefined) return value
  throw new PtliteError('INVALID_ARGUMENT', `expected None, bool, number, string, Tensor, tuple, array or Map, found ${kindOf(input)}`)
}

/** A dict of the runtime's values. */
export function mapOf(dict: ReadonlyMap<unknown, unknown>): Map<DictKey, Value> {
  return new Map([...dict].map(([key, item]) => [toValue(key as Input) as DictKey, toValue(item as Input)]))
}

/** Of objects that callers may pass and that hold no others which they made themselves. */
const CLASSES = [Float, ...(HOLDS_COMPLEX ? [Complex] : []), Tuple, Device, CustomObject, ScriptObject]

/** Lists of lists that anybody means are less deep. */
const MOST_NESTED = 100

/** True for a value of the runtime whose items are some, too. Throws INVALID_ARGUMENT for lists that are in themselves. */
function isOwn(value: unknown, depth = 0): value is Value {
  if (typeof value !== 'object') return !['undefined', 'function', 'symbol'].includes(typeof value)
  if (value === null || value instanceof Tensor || CLASSES.some((one) => value instanceof one)) return true
  if (depth > MOST_NESTED)
    throw new PtliteError('INVALID_ARGUMENT', `lists and dicts are nested more than ${MOST_NESTED} deep, or in themselves`)
  if (Array.isArray(value)) return value.every((item) => isOwn(item, depth + 1))
  return value instanceof Map && [...value].every(([key, item]) => isOwn(key, depth + 1) && isOwn(item, depth + 1))
}

/** As toValue, converting plain numbers and arrays to `type`. Throws INVALID_ARGUMENT naming `where`. */
export function toTyped(input: Input, type: TypeNode, where: string): Value {
  const value = coerce(toValue(input), type)
  if (!fits(value, type)) throw mismatch(where, typeText(type), value)
  return value
}

export function mismatch(where: string, expected: string, found: unknown): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `${where}: expected ${expected}, found ${kindOf(found)}`)
}

function coerce(value: Value, type: TypeNode): Value {
  switch (type.name) {
    case 'float':
      return typeof value === 'number' ? new Float(value) : typeof value === 'bigint' ? new Float(Number(value)) : value
    case 'complex':
      return value instanceof Float || typeof value === 'number' ? new Complex(Number(value), 0) : value
    case 'Device':
      return typeof value === 'string' ? new Device(value) : value
    case 'Optional':
      return value === null ? null : coerce(value, type.args[0]!)
    case 'List':
      return Array.isArray(value) ? coerceItems(value, type.args[0]!) : value
    case 'Tuple': {
      const items = value instanceof Tuple ? value.items : Array.isArray(value) ? value : null
      if (items === null || items.length !== type.args.length) return value
      return new Tuple(
        items.map((item, i) => coerce(toValue(item as Input), type.args[i]!)),
        type.fields,
      )
    }
    case 'Dict':
      return value instanceof Map ? coerceEntries(value, type.args[1]!) : value
    default:
      return value
  }
}

/** The same array unless an element has to change, so that what the model appends is seen by the caller. */
function coerceItems(list: Value[], element: TypeNode): Value[] {
  const items = list.map((item) => coerce(toValue(item as Input), element))
  return items.every((item, i) => item === list[i]) ? list : items
}

function coerceEntries(dict: Map<DictKey, Value>, element: TypeNode): Map<DictKey, Value> {
  const entries = [...dict].map(([k, v]) => [k, coerce(toValue(v as Input), element)] as const)
  return entries.every(([k, v]) => dict.get(k) === v) ? dict : new Map(entries)
}

/** Types that the runtime knows are checked; class names and enums are left to the code. */
function fits(value: Value, type: TypeNode): boolean {
  if (/^\w*Tensor$/.test(type.name)) return value instanceof Tensor
  return !KNOWN_TYPES.has(type.name) || matchesType(value, type)
}

const KNOWN_TYPES = new Set([
  'int',
  'float',
  'complex',
  'bool',
  'str',
  'number',
  'Scalar',
  'List',
  'Dict',
  'Tuple',
  'Optional',
  'NoneType',
  'None',
])

/** The caller's form of a result. */
export function toOutput(value: Value): Output {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Float) return value.value
  if (value instanceof Tuple) return value.items.map(toOutput)
  if (Array.isArray(value)) return value.some(needsConversion) ? value.map(toOutput) : (value as Output[])
  if (value instanceof Map) {
    if (![...value.values()].some(needsConversion)) return value as Map<DictKey, Output>
    return new Map([...value].map(([k, v]) => [k, toOutput(v)]))
  }
  return value instanceof Device ? value.toString() : value
}

function needsConversion(value: Value): boolean {
  return typeof value === 'object' && value !== null && toOutput(value) !== value
}
