import { PtliteError } from '../../error.js'
import { kindOf } from '../../tensor/describe.js'
import { Float, type Int, toInt } from '../../tensor/scalar.js'
import { CustomObject, Device, ScriptObject, Tuple, type Value } from '../../tensor/value.js'
import { Tensor } from '../../tensor/tensor.js'
import { encodeBytes } from './support/bytes.js'
import { combineHashes, hashBytes, hashDouble } from './support/hash.js'
import { id } from './introspection.js'

/** A value that nobody reads. */
export function uninitialized(): Value {
  return null
}

export function if_then_else(cond: boolean, x: Value, y: Value): Value {
  return cond ? x : y
}

export function always(): boolean {
  return true
}

export function never(): boolean {
  return false
}

/** As never, for an operator with arguments. */
export function never_of(_rest: Value[]): boolean {
  return false
}

/** Gradients are not recorded: nothing to switch. */
export function ignore_bool(_val: boolean): void {}

/** Nanoseconds of a clock that only goes forward. */
export function time_point(): Int {
  return toInt(process.hrtime.bigint())
}

export function ignore_stat(_key: string, _val: Int): void {}

/** The hash of a value, as PyTorch computes it on Linux. Throws MODEL_ERROR for lists and dicts. */
export function hash(value: Value): Int {
  return toInt(hashOf(value))
}

function hashOf(value: Value): bigint {
  if (value === null) return 0n
  switch (typeof value) {
    case 'boolean':
    case 'number':
    case 'bigint':
      return BigInt.asUintN(64, BigInt(value))
    case 'string':
      return hashBytes(Buffer.from(encodeBytes(value), 'latin1'))
  }
  if (value instanceof Float) return hashDouble(value.value)
  if (value instanceof Tuple) return value.items.reduce<bigint>((seed, item) => combineHashes(seed, hashOf(item)), 0n)
  if (value instanceof Device) return hashOf(value.type === 'cpu' ? (value.index ?? 255) & 255 : value.toString())
  if (value instanceof Tensor || value instanceof ScriptObject || value instanceof CustomObject) return BigInt(id(value))
  throw new PtliteError('MODEL_ERROR', `TypeError: unhashable type: ${kindOf(value)}`)
}
