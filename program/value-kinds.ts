import { Complex, Float } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { Device, Tuple, type Value } from '../runtime/tensor/value.js'

/** Kinds of values, as bits of a set. */
export const Kind = {
  none: 1,
  bool: 2,
  int: 4,
  float: 8,
  str: 16,
  tensor: 32,
  /** Lists of tensors, None among them or not; of numbers; of anything else. */
  tensors: 64,
  numbers: 128,
  others: 256,
  tuple: 512,
  dict: 1024,
  device: 2048,
  complex: 4096,
  /** Objects, and whatever else there is. */
  object: 8192,
} as const

/** The set of all kinds. */
export const ANY_KIND = 16383
const ANY_LIST = Kind.tensors | Kind.numbers | Kind.others
const NUMBER = Kind.bool | Kind.int | Kind.float | Kind.complex

/** Schema types, and TorchScript's names of types, that mean the same everywhere. Ints and names are both taken for dtypes, layouts and the like. */
const PLAIN: Readonly<Record<string, number>> = {
  None: Kind.none,
  NoneType: Kind.none,
  Tensor: Kind.tensor,
  int: Kind.int,
  SymInt: Kind.int,
  float: Kind.int | Kind.float,
  complex: Kind.int | Kind.float | Kind.complex,
  bool: Kind.bool,
  Scalar: NUMBER,
  number: NUMBER,
  str: Kind.str,
  ScalarType: Kind.int | Kind.str,
  Layout: Kind.int | Kind.str,
  MemoryFormat: Kind.int | Kind.str,
  Device: Kind.device | Kind.str,
}

/** Kinds that an argument or a result of a schema's type can have: no less than its unboxing takes. */
export function kindsOfSchemaType(type: string): number {
  if (Object.hasOwn(PLAIN, type)) return PLAIN[type]!
  if (type.endsWith('?')) return kindsOfSchemaType(type.slice(0, -1)) | Kind.none
  const list = /^(.*)\[(\d*)\]$/.exec(type)
  if (list !== null) {
    const [, element, size] = list
    // a single value stands for a sized list, and tuples are taken for lists
    return listOf(element!.replace(/\?$/, '')) | Kind.tuple | (size === '' ? 0 : kindsOfSchemaType(element!))
  }
  if (type.startsWith('Dict(')) return Kind.dict
  if (type.startsWith('(')) return Kind.tuple
  return type.startsWith('__torch__.') ? Kind.object : ANY_KIND
}

/** Kinds of values of a type as TorchScript prints it: `Optional[List[int]]`. */
export function kindsOfTypeText(type: string): number {
  if (Object.hasOwn(PLAIN, type)) return PLAIN[type]!
  const [, name, element] = /^(\w+)\[(.*)\]$/.exec(type) ?? []
  if (name === 'Optional') return kindsOfTypeText(element!) | Kind.none
  if (name === 'List') return listOf(/^Optional\[(.*)\]$/.exec(element!)?.[1] ?? element!)
  if (name === 'Dict') return Kind.dict
  return name === 'Tuple' ? Kind.tuple : ANY_KIND
}

function listOf(element: string): number {
  if (element === 'Tensor') return Kind.tensors
  const kinds = Object.hasOwn(PLAIN, element) ? PLAIN[element]! : ANY_KIND
  return kinds === ANY_KIND ? ANY_LIST : (kinds & ~NUMBER) === 0 ? Kind.numbers : Kind.others
}

export function kindOfValue(value: Value): number {
  if (value === null) return Kind.none
  if (typeof value === 'boolean') return Kind.bool
  if (typeof value === 'string') return Kind.str
  if (typeof value === 'number' || typeof value === 'bigint') return Kind.int
  if (value instanceof Float) return Kind.float
  if (value instanceof Complex) return Kind.complex
  if (value instanceof Tensor) return Kind.tensor
  if (value instanceof Tuple) return Kind.tuple
  if (value instanceof Map) return Kind.dict
  if (value instanceof Device) return Kind.device
  return Array.isArray(value) ? kindOfList(value) : Kind.object
}

function kindOfList(list: readonly Value[]): number {
  let kinds = 0
  // what is in lists of lists does not matter
  for (const item of list) kinds |= Array.isArray(item) ? Kind.others : kindOfValue(item)
  if ((kinds & ~Kind.none) === 0) return ANY_LIST
  if ((kinds & ~NUMBER) === 0) return Kind.numbers
  return (kinds & ~(Kind.tensor | Kind.none)) === 0 ? Kind.tensors : Kind.others
}
