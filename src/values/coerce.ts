import { parseType as parameterType, type TypeNode, typeText } from '../../program/types.js'
import { matchesType } from '../../program/type-match.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import { PairMap } from '../../runtime/tensor/rebuild.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { Device, type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'
import { wholeValue } from './convert-leaf.js'
import { type Input, mismatch, toValue } from './convert.js'
import * as features from '../../runtime/features.js'
import { absent } from '../../runtime/error.js'

export { parameterType }

/** Tuples that hold values of the runtime. A call looks into them again, since lists in them may have changed. */
const made = new WeakSet<Value & object>()

/** A tuple argument. */
export function tuple(...items: Input[]): Tuple {
  if (!features.coercion) throw absent('an argument that is no tensor', 'INVALID_ARGUMENT')
  const valueOf = (item: Input): Value => {
    // calls say which tensors they do not take
    if (item instanceof Tensor && Tensor.isOne(item)) return Tensor.own(item)
    // not anew what is in tuples that were made so: tuples in tuples would take as long as the square of their number
    return item instanceof Tuple && made.has(item) ? item : toValue(item, made)
  }
  const result = reading(() => new Tuple(items.map(valueOf)))
  made.add(result)
  return result
}

/** As toValue, converting plain numbers and arrays to `type`. Throws INVALID_ARGUMENT naming `where`. */
export function toTyped(input: Input, type: TypeNode, where: string): Value {
  const value = coerce(toValue(input), type)
  if (!fits(value, type)) throw mismatch(where, typeText(type), value)
  return value
}

/** What values have become of which types: what is shared is converted once. */
type Coerced = PairMap<Value, TypeNode, Value>

function coerce(value: Value, type: TypeNode, done: Coerced = new PairMap()): Value {
  switch (type.name) {
    case 'float':
      return typeof value === 'number' ? new Float(value) : typeof value === 'bigint' ? new Float(Number(value)) : value
    case 'complex':
      return value instanceof Float || typeof value === 'number' ? new Complex(Number(value), 0) : value
    case 'Device':
      return typeof value === 'string' ? new Device(value) : value
    case 'Optional':
      return value === null ? null : coerce(value, type.args[0]!, done)
    case 'List':
    case 'Tuple':
    case 'Dict':
      if (typeof value !== 'object' || value === null || value instanceof Tensor) return value
      return done.get(value, type) ?? done.set(value, type, coerceContainer(value, type, done))
    default:
      return value
  }
}

function coerceContainer(value: Value, type: TypeNode, done: Coerced): Value {
  if (type.name === 'Tuple') {
    const items = value instanceof Tuple ? value.items : Array.isArray(value) ? value : null
    if (items === null || items.length !== type.args.length) return value
    return new Tuple(
      items.map((item, i) => coerce(wholeValue(item), type.args[i]!, done)),
      type.fields,
    )
  }
  if (type.name === 'List') return Array.isArray(value) ? coerceItems(value, type.args[0]!, done) : value
  return value instanceof Map ? coerceEntries(value, type.args[1]!, done) : value
}

/** The same array unless an element has to change, so that what the model appends is seen by the caller. */
function coerceItems(list: Value[], element: TypeNode, done: Coerced): Value[] {
  const items = list.map((item) => coerce(wholeValue(item), element, done))
  return items.every((item, i) => item === list[i]) ? list : items
}

function coerceEntries(dict: Map<DictKey, Value>, element: TypeNode, done: Coerced): Map<DictKey, Value> {
  const entries = [...dict].map(([k, v]) => [k, coerce(wholeValue(v), element, done)] as const)
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
