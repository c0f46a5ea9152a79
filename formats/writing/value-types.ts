import { PtliteError } from '../../runtime/error.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import {
  CUSTOM_CLASSES,
  type CustomObject,
  Device,
  type DictKey,
  listType,
  ScriptObject,
  Tuple,
  type Value,
} from '../../runtime/tensor/value.js'
import { dictType } from '../containers/dict-types.js'

/** What stands in for a value that this runtime cannot use has a name that no class can have. */
const CLASS_NAME = /^[\w.]+$/

/** The types of the elements of a list, as TorchScript writes them. */
export function elementTypeOf(list: Value[]): string {
  return listType(list) ?? typeOfAll(list)
}

/** One type for all these values: `int` where there are none, `Optional[...]` where some are None, and `Any` where they have nothing in common. */
export function typeOfAll(values: readonly Value[]): string {
  const types = new Set(values.map(typeOf))
  if (types.size === 0) return 'int'
  const [first = 'NoneType', ...others] = [...types].filter((type) => type !== 'NoneType')
  if (others.length > 0) return 'Any'
  return types.has('NoneType') && first !== 'NoneType' ? `Optional[${first}]` : first
}

/** The type of a value as TorchScript writes it. Throws UNSUPPORTED_FILE for what has no form in a file. */
export function typeOf(value: Value): string {
  if (value === null) return 'NoneType'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number' || typeof value === 'bigint') return 'int'
  if (typeof value === 'string') return 'str'
  if (value instanceof Float) return 'float'
  if (value instanceof Complex) return 'complex'
  if (value instanceof Tensor) return 'Tensor'
  if (value instanceof Tuple) return `Tuple[${value.items.map(typeOf).join(', ')}]`
  if (Array.isArray(value)) return `List[${elementTypeOf(value)}]`
  if (value instanceof ScriptObject) return value.typeName
  if (value instanceof Device) return 'Device'
  if (value instanceof Map) return dictTypeOf(value).text
  return customClassOf(value)
}

/** The qualified name of the class in C++ of an object. Throws UNSUPPORTED_FILE for what only stands in for a value. */
export function customClassOf({ className }: CustomObject): string {
  if (!CLASS_NAME.test(className)) throw new PtliteError('UNSUPPORTED_FILE', `${className} has no form in the file to be written`)
  return CUSTOM_CLASSES + className
}

/** The type of a dict: that of its file, or of what is in it. Keys that are floats are plain numbers in memory. */
export function dictTypeOf(dict: ReadonlyMap<DictKey, Value>): { readonly text: string; readonly hasFloatKeys: boolean } {
  const known = dictType(dict)
  if (known !== undefined) return { text: known, hasFloatKeys: /^\s*Dict\[\s*float\s*,/.test(known) }
  const keys = [...dict.keys()]
  const hasFloatKeys = keys.some((key) => typeof key === 'number' && !Number.isSafeInteger(key))
  return { text: `Dict[${hasFloatKeys ? 'float' : typeOfAll(keys)}, ${typeOfAll([...dict.values()])}]`, hasFloatKeys }
}
