import { PtliteError } from '../../error.js'
import { latin1 } from '../../encoding.js'
import { pace } from '../../pace.js'
import { nanoseconds } from '../../platform.js'
import { kindOf } from '../../tensor/kind-of.js'
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

/** Gradients are not recorded: nothing to switch. */
export function ignore_bool(_val: boolean): void {}

/** Nanoseconds of a clock that only goes forward. */
export function time_point(): Int {
  return toInt(nanoseconds())
}

export function ignore_stat(_key: string, _val: Int): void {}

/** The hash of a value, as PyTorch computes it on Linux. Throws MODEL_ERROR for lists and dicts. */
export function hash(value: Value): Int {
  return toInt(value instanceof Tuple ? hashOfTuple(value) : hashOf(value))
}

/** Tuples in tuples are hashed once each, innermost first. */
function hashOfTuple(root: Tuple): bigint {
  const hashes = new Map<Tuple, bigint | null>([[root, null]])
  const open = [{ tuple: root, next: 0, seed: 0n }]
  for (;;) {
    pace(16)
    const top = open.at(-1)!
    const { items } = top.tuple
    if (top.next === items.length) {
      hashes.set(top.tuple, top.seed)
      open.pop()
      if (open.length === 0) return top.seed
      continue
    }
    const item = items[top.next]!
    const hash = item instanceof Tuple ? hashes.get(item) : hashOf(item)
    if (hash === null) throw new PtliteError('MODEL_ERROR', 'TypeError: a tuple in itself has no hash')
    if (hash === undefined) {
      hashes.set(item as Tuple, null)
      open.push({ tuple: item as Tuple, next: 0, seed: 0n })
    } else {
      top.seed = combineHashes(top.seed, hash)
      top.next++
    }
  }
}

/** Of a value that is no tuple. */
function hashOf(value: Value): bigint {
  if (value === null) return 0n
  switch (typeof value) {
    case 'boolean':
    case 'number':
    case 'bigint':
      return BigInt.asUintN(64, BigInt(value))
    case 'string':
      return hashBytes(latin1(encodeBytes(value)))
  }
  if (value instanceof Float) return hashDouble(value.value)
  if (value instanceof Device) return hashOf(value.type === 'cpu' ? (value.index ?? 255) & 255 : value.toString())
  if (value instanceof Tensor || value instanceof ScriptObject || value instanceof CustomObject) return BigInt(id(value))
  throw new PtliteError('MODEL_ERROR', `TypeError: unhashable type: ${kindOf(value)}`)
}
