import { RandomGenerator } from '../../../tensor/generator.js'
import { Complex, Float } from '../../../tensor/scalar.js'
import { Tensor } from '../../../tensor/tensor.js'
import { type CustomObject, Device, type DictKey, ScriptObject, Tuple, type Value } from '../../../tensor/value.js'
import { decodeBytes, encodeBytes } from './bytes.js'
import { floatText } from './number-text.js'
import { tensorText } from './tensor-text.js'

/** A value as `str()` and `format` of TorchScript write it. Strings are not quoted, inside containers either. */
export function valueText(value: Value): string {
  if (value === null) return 'None'
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
      return value ? 'True' : 'False'
    case 'number':
    case 'bigint':
      return String(value)
  }
  if (value instanceof Float) return floatText(value.value)
  if (value instanceof Complex) return complexText(value)
  if (value instanceof Tensor) return tensorText(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (value instanceof Tuple) return `(${value.items.map(valueText).join(', ')}${value.items.length === 1 ? ',' : ''})`
  if (value instanceof Map) return `{${Array.from(value, entryText).join(', ')}}`
  if (value instanceof Device) return value.toString()
  return objectText(value)
}

/** `1.+2.j`; the sign of a NaN, which is no number of either sign, is a minus. */
function complexText({ re, im }: Complex): string {
  return `${floatText(re)}${im >= 0 ? '+' : '-'}${floatText(Math.abs(im))}j`
}

function entryText([key, value]: [DictKey, Value]): string {
  // a fraction can only be a key of a dict with float keys
  const keyText = typeof key === 'number' && !Number.isInteger(key) ? floatText(key) : valueText(key)
  return `${keyText}: ${valueText(value)}`
}

function objectText(value: ScriptObject | CustomObject): string {
  if (value instanceof RandomGenerator) return 'Generator'
  return `<${value instanceof ScriptObject ? value.typeName : value.className} object>`
}

/** Joins texts that may hold halves of a character each. */
export function joinTexts(parts: readonly string[]): string {
  return decodeBytes(parts.map(encodeBytes).join(''))
}
