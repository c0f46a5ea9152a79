import { PtliteError } from '../../runtime/error.js'
import * as features from '../../runtime/features.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import type { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import {
  type CustomObject,
  type Device,
  type DictKey,
  isContainer,
  type ScriptObject,
  type Tuple,
  type Value,
} from '../../runtime/tensor/value.js'
import { outputOfContainer, valueOfContainer } from './convert-containers.js'
import { isLeaf, leafValue, type Output, outputOfLeaf, valueOfNumber } from './convert-leaf.js'

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

export type { Output }

/**
 * The runtime's value of an argument whose type the operator itself will check; what is in `known` containers is one already. Throws INVALID_ARGUMENT for
 * what is in itself.
 */
export function toValue(input: Input, known?: WeakSet<object>): Value {
  if (input instanceof Tensor && Tensor.isOne(input)) return Tensor.argument(input)
  if (typeof input === 'number' || typeof input === 'bigint') return valueOfNumber(input)
  if (isFlat(input)) return input as Value
  return features.containers && typeof input === 'object' && input !== null ? valueOfContainer(input, known) : leafValue(input)
}

/** Lists of such values are taken as they are. */
function isFlat(value: unknown): boolean {
  if (!Array.isArray(value) || !(Symbol.iterator in value)) return false
  for (let i = 0; i < value.length; i++) if (!isLeaf(value[i])) return false
  return true
}

export function mismatch(where: string, expected: string, found: unknown): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `${where}: expected ${expected}, found ${kindOf(found)}`)
}

/** The caller's form of a result. What is shared, or in itself, is so in the result. */
export function toOutput(value: Value): Output {
  if (typeof value !== 'object' || value === null) return value
  return features.containers && isContainer(value) ? outputOfContainer(value) : (outputOfLeaf(value) as Output)
}
