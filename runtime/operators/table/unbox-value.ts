import * as features from '../../features.js'
import { type DType, dtypeFromCode, dtypeFromName, isLimited } from '../../tensor/dtype.js'
import { MemoryFormat } from '../../tensor/options.js'
import { type AnyScalar, Complex, Float, type Int, isComplexNumber, type Scalar } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { CustomObject, Device, Tuple, type Value } from '../../tensor/value.js'
import { noteUse } from '../../traced-parts.js'
import { limited } from './limited-chunk.js'
import { runningOperator, wrongType } from './unbox-error.js'

/*
 * One rule per schema type: a stack value becomes what the native function takes, or wrongType says that it is not
 * one. `arg` is the argument's position.
 */

export function toTensor(v: Value, arg: number): Tensor {
  return v instanceof Tensor ? v : wrongType(v, arg)
}

/** An int for sizes and positions; beyond 2^53 it is rounded. */
export function toNumber(v: Value, arg: number): number {
  if (typeof v === 'number' && Number.isInteger(v)) return v
  return typeof v === 'bigint' ? Number(v) : wrongType(v, arg)
}

/** An int kept exact. */
export function toLong(v: Value, arg: number): Int {
  return typeof v === 'bigint' || (typeof v === 'number' && Number.isInteger(v)) ? v : wrongType(v, arg)
}

export function toFloat(v: Value, arg: number): number {
  if (v instanceof Float) return v.value
  if (typeof v === 'number') return v
  return typeof v === 'bigint' ? Number(v) : wrongType(v, arg)
}

export function toBool(v: Value, arg: number): boolean {
  return typeof v === 'boolean' ? v : wrongType(v, arg)
}

export function toStr(v: Value, arg: number): string {
  return typeof v === 'string' ? v : wrongType(v, arg)
}

/** A plain fraction counts as a float. */
export function toScalar(v: Value, arg: number): Scalar {
  if (typeof v === 'number') return Number.isInteger(v) ? v : new Float(v)
  return v instanceof Float || typeof v === 'bigint' || typeof v === 'boolean' ? v : wrongType(v, arg)
}

/** A number that may be complex, for operators that compute with such. */
export function toAnyScalar(v: Value, arg: number): AnyScalar {
  if (!isComplexNumber(v)) return toScalar(v, arg)
  noteUse('complex')
  return v
}

/** A real number counts as complex, without an imaginary part. */
export function toComplex(v: Value, arg: number): Complex {
  return v instanceof Complex ? v : new Complex(toFloat(v, arg), 0)
}

/** A number of c10::ScalarType or a dtype's name. */
export function toDType(v: Value, arg: number): DType {
  const type = typeof v === 'number' ? dtypeFromCode(v) : typeof v === 'string' ? dtypeFromName(v) : wrongType(v, arg)
  if (features.limited && isLimited(type)) limited().checkLimited(runningOperator(), type)
  return type
}

const LAYOUTS: Readonly<Record<string, number>> = { strided: 0, sparse: 1, sparse_coo: 1, sparse_csr: 2, _mkldnn: 3, sparse_csc: 4 }
const MEMORY_FORMATS: Readonly<Record<string, number>> = {
  contiguous: MemoryFormat.contiguous,
  contiguous_format: MemoryFormat.contiguous,
  preserve: MemoryFormat.preserve,
  preserve_format: MemoryFormat.preserve,
  channels_last: MemoryFormat.channelsLast,
  channels_last_3d: MemoryFormat.channelsLast3d,
}

/** A number of at::Layout or a layout's name. */
export function toLayout(v: Value, arg: number): number {
  return byName(v, LAYOUTS, arg)
}

/** A number of at::MemoryFormat or a format's name, with or without `_format`. */
export function toMemoryFormat(v: Value, arg: number): number {
  return byName(v, MEMORY_FORMATS, arg)
}

function byName(v: Value, names: Readonly<Record<string, number>>, arg: number): number {
  const code = typeof v === 'string' && Object.hasOwn(names, v) ? names[v] : v
  return typeof code === 'number' && Number.isInteger(code) ? code : wrongType(v, arg)
}

/** A device or its text: `cpu`, `cuda:0`. */
export function toDevice(v: Value, arg: number): Device {
  if (v instanceof Device) return v
  const match = typeof v === 'string' ? /^([a-z]+)(?::(\d+))?$/.exec(v) : null
  return match === null ? wrongType(v, arg) : new Device(match[1]!, match[2] === undefined ? null : Number(match[2]))
}

export function toCustom(v: Value, arg: number): CustomObject {
  return v instanceof CustomObject ? v : wrongType(v, arg)
}

/** The items of a list or tuple; null for anything else. */
export function itemsOf(v: Value): Value[] | null {
  return Array.isArray(v) ? v : v instanceof Tuple ? v.items : null
}

/** A list whose elements follow `element`; where the schema says T[size], a single T stands for `size` equal ones. */
export function toList<T>(v: Value, arg: number, size: number, element: (v: Value, arg: number) => T): T[] {
  const list = itemsOf(v)
  if (list !== null) return list.map((item) => element(item, arg))
  return size === 0 ? wrongType(v, arg) : new Array<T>(size).fill(element(v, arg))
}

/** A list of ints as it is, if all of them are numbers. */
export function toNumbers(v: Value, arg: number, size: number): number[] {
  return isNumbers(v) ? v : toList(v, arg, size, toNumber)
}

function isNumbers(v: Value): v is number[] {
  if (!Array.isArray(v)) return false
  for (let i = 0; i < v.length; i++) if (typeof v[i] !== 'number' || !Number.isInteger(v[i])) return false
  return true
}

/** A list of tensors as it is; `optional` admits None among them. */
export function toTensors(v: Value, arg: number, optional: boolean): Value[] {
  const list = itemsOf(v)
  if (list === null) return wrongType(v, arg)
  for (let i = 0; i < list.length; i++) {
    const item = list[i]!
    if (!(item instanceof Tensor) && !(optional && item === null)) wrongType(v, arg, i)
  }
  return list
}
