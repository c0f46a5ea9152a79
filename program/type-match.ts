import { CustomObject, Device, type DictKey, listType, ScriptObject, Tuple, type Value } from '../runtime/tensor/value.js'
import { type TypeNode, typeText } from './types.js'
import { pace } from '../runtime/pace.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { PairMap } from '../runtime/tensor/rebuild.js'

/**
 * Whether a value is of a type, as TorchScript's isinstance sees it. An empty list answers by the element type
 * it was made with, or, if that is unknown, is a list of anything.
 */
export function matchesType(value: Value, type: TypeNode): boolean {
  return matches(value, type, null)
}

/** What is known of containers in containers: those that are shared are looked at once for each type. */
type Known = PairMap<Value, TypeNode, boolean>

export function matches(value: Value, type: TypeNode, known: Known | null): boolean {
  switch (type.name) {
    case 'Any':
      return true
    case 'None':
    case 'NoneType':
      return value === null
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
    case 'float':
      return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value))
    case 'complex':
      return value instanceof Complex
    case 'number':
    case 'Scalar':
      return typeof value === 'number' || typeof value === 'bigint' || value instanceof Float || value instanceof Complex
    case 'str':
      return typeof value === 'string'
    case 'Tensor':
      return value instanceof Tensor
    case 'Device':
      return value instanceof Device
    case 'list':
      return Array.isArray(value)
    case 'tuple':
      return value instanceof Tuple
    case 'List':
      return Array.isArray(value) && once(value, type, known, matchesList)
    case 'Dict':
      return value instanceof Map && once(value, type, known, matchesDict)
    case 'Tuple':
      return value instanceof Tuple && once(value, type, known, matchesTuple)
    case 'Optional':
      return value === null || type.args.some((arg) => matches(value, arg, known))
    case 'Union':
      return type.args.some((arg) => matches(value, arg, known))
    default:
      if (value instanceof ScriptObject) return value.typeName === type.name
      if (value instanceof CustomObject) return type.name.endsWith(`.${value.className}`)
      return value instanceof Tuple && type.fields !== undefined && once(value, type, known, matchesNamedTuple)
  }
}

/** `test` of a container, unless the answer is known. The outermost ones need not be remembered. */
function once<T extends Value>(
  value: T,
  type: TypeNode,
  known: Known | null,
  test: (value: T, type: TypeNode, known: Known) => boolean,
): boolean {
  if (known === null) return test(value, type, new PairMap())
  return known.get(value, type) ?? known.set(value, type, test(value, type, known))
}

function matchesTuple({ items }: Tuple, { args }: TypeNode, known: Known): boolean {
  return items.length === args.length && items.every((item, i) => matches(item, args[i]!, known))
}

function matchesNamedTuple(value: Tuple, type: TypeNode, known: Known): boolean {
  return value.fields !== undefined && value.fields.join() === type.fields!.join() && matchesTuple(value, type, known)
}

function matchesList(list: Value[], type: TypeNode, seen: Known): boolean {
  const element = type.args[0]
  if (element === undefined) return true
  pace(list.length)
  if (list.length > 0) return list.every((item) => matches(item, element, seen))
  const known = listType(list)
  return known === undefined || known === typeText(element)
}

function matchesDict(dict: Map<DictKey, Value>, type: TypeNode, known: Known): boolean {
  const [key, item] = type.args
  if (key === undefined || item === undefined) return true
  pace(dict.size)
  for (const [k, v] of dict) {
    // float keys are plain numbers
    if (key.name === 'float' ? typeof k !== 'number' : !matches(k, key, known)) return false
    if (!matches(v, item, known)) return false
  }
  return true
}
