import { type DType, dtypeFromCode, dtypeFromName } from '../tensor/dtype.js'
import { MemoryFormat, type TensorOptions } from '../tensor/options.js'
import { Float, type Int, type Scalar } from '../tensor/scalar.js'
import { Tensor } from '../tensor/tensor.js'
import { CustomObject, Device, type DictKey, Tuple, type Value } from '../tensor/value.js'
import { wrongType } from './unbox-error.js'

/*
 * What generated wrappers call on each argument: a stack value becomes what the native function takes. `op` and
 * `arg` are the operator's number in the table and the argument's position; only errors use them.
 */

export function asTensor(v: Value, op: number, arg: number): Tensor {
  if (v instanceof Tensor) return v
  return wrongType(v, op, arg)
}

export function asTensorOrNull(v: Value, op: number, arg: number): Tensor | null {
  if (v === null || v instanceof Tensor) return v
  return wrongType(v, op, arg)
}

/** An int for sizes and positions; beyond 2^53 it is rounded. */
export function asInt(v: Value, op: number, arg: number): number {
  if (typeof v === 'number' && Number.isInteger(v)) return v
  if (typeof v === 'bigint') return Number(v)
  return wrongType(v, op, arg)
}

export function asIntOrNull(v: Value, op: number, arg: number): number | null {
  return v === null ? null : asInt(v, op, arg)
}

/** An int kept exact. */
export function asLong(v: Value, op: number, arg: number): Int {
  if (typeof v === 'bigint' || (typeof v === 'number' && Number.isInteger(v))) return v
  return wrongType(v, op, arg)
}

export function asLongOrNull(v: Value, op: number, arg: number): Int | null {
  return v === null ? null : asLong(v, op, arg)
}

export function asFloat(v: Value, op: number, arg: number): number {
  if (v instanceof Float) return v.value
  if (typeof v === 'number') return v
  if (typeof v === 'bigint') return Number(v)
  return wrongType(v, op, arg)
}

export function asFloatOrNull(v: Value, op: number, arg: number): number | null {
  return v === null ? null : asFloat(v, op, arg)
}

export function asBool(v: Value, op: number, arg: number): boolean {
  if (typeof v === 'boolean') return v
  return wrongType(v, op, arg)
}

export function asBoolOrNull(v: Value, op: number, arg: number): boolean | null {
  return v === null ? null : asBool(v, op, arg)
}

export function asStr(v: Value, op: number, arg: number): string {
  if (typeof v === 'string') return v
  return wrongType(v, op, arg)
}

export function asStrOrNull(v: Value, op: number, arg: number): string | null {
  return v === null ? null : asStr(v, op, arg)
}

/** A plain fraction counts as a float. */
export function asScalar(v: Value, op: number, arg: number): Scalar {
  if (typeof v === 'number') return Number.isInteger(v) ? v : new Float(v)
  if (v instanceof Float || typeof v === 'bigint' || typeof v === 'boolean') return v
  return wrongType(v, op, arg)
}

export function asScalarOrNull(v: Value, op: number, arg: number): Scalar | null {
  return v === null ? null : asScalar(v, op, arg)
}

/** A number of c10::ScalarType or a dtype's name. */
export function asDType(v: Value, op: number, arg: number): DType {
  if (typeof v === 'number') return dtypeFromCode(v)
  if (typeof v === 'string') return dtypeFromName(v)
  return wrongType(v, op, arg)
}

export function asDTypeOrNull(v: Value, op: number, arg: number): DType | null {
  return v === null ? null : asDType(v, op, arg)
}

const LAYOUTS: Readonly<Record<string, number>> = { strided: 0, sparse: 1, sparse_coo: 1, sparse_csr: 2, mkldnn: 3, _mkldnn: 3 }

export function asLayout(v: Value, op: number, arg: number): number {
  return byName(v, LAYOUTS, op, arg)
}

export function asLayoutOrNull(v: Value, op: number, arg: number): number | null {
  return v === null ? null : asLayout(v, op, arg)
}

const MEMORY_FORMATS: Readonly<Record<string, number>> = {
  contiguous: MemoryFormat.contiguous,
  contiguous_format: MemoryFormat.contiguous,
  preserve: MemoryFormat.preserve,
  preserve_format: MemoryFormat.preserve,
  channels_last: MemoryFormat.channelsLast,
  channels_last_3d: MemoryFormat.channelsLast3d,
}

export function asMemoryFormat(v: Value, op: number, arg: number): number {
  return byName(v, MEMORY_FORMATS, op, arg)
}

export function asMemoryFormatOrNull(v: Value, op: number, arg: number): number | null {
  return v === null ? null : asMemoryFormat(v, op, arg)
}

function byName(v: Value, names: Readonly<Record<string, number>>, op: number, arg: number): number {
  const code = typeof v === 'string' && Object.hasOwn(names, v) ? names[v] : v
  return typeof code === 'number' && Number.isInteger(code) ? code : wrongType(v, op, arg)
}

/** A device or its text: `cpu`, `cuda:0`. */
export function asDevice(v: Value, op: number, arg: number): Device {
  if (v instanceof Device) return v
  const match = typeof v === 'string' ? /^([a-z]+)(?::(\d+))?$/.exec(v) : null
  return match === null ? wrongType(v, op, arg) : new Device(match[1]!, match[2] === undefined ? null : Number(match[2]))
}

export function asDeviceOrNull(v: Value, op: number, arg: number): Device | null {
  return v === null ? null : asDevice(v, op, arg)
}

/** Gathers dtype, layout, device and pin_memory, which stand at `base` and after it. */
export function asOptions(values: readonly Value[], base: number, op: number, arg: number): TensorOptions {
  return {
    dtype: asDTypeOrNull(values[base]!, op, arg),
    layout: asLayoutOrNull(values[base + 1]!, op, arg + 1),
    device: asDeviceOrNull(values[base + 2]!, op, arg + 2),
    pinMemory: asBoolOrNull(values[base + 3]!, op, arg + 3),
  }
}

/** Generators of a caller are not supported: only None passes. */
export function asGenerator(v: Value, op: number, arg: number): null {
  return v === null ? null : wrongType(v, op, arg)
}

export function asTensors(v: Value, op: number, arg: number): Tensor[] {
  const list = items(v)
  if (list === null) return wrongType(v, op, arg)
  for (let i = 0; i < list.length; i++) if (!(list[i] instanceof Tensor)) wrongType(v, op, arg, i)
  return list as Tensor[]
}

export function asTensorsOrNull(v: Value, op: number, arg: number): Tensor[] | null {
  return v === null ? null : asTensors(v, op, arg)
}

export function asOptionalTensors(v: Value, op: number, arg: number): (Tensor | null)[] {
  const list = items(v)
  if (list === null) return wrongType(v, op, arg)
  for (let i = 0; i < list.length; i++) if (list[i] !== null && !(list[i] instanceof Tensor)) wrongType(v, op, arg, i)
  return list as (Tensor | null)[]
}

export function asOptionalTensorsOrNull(v: Value, op: number, arg: number): (Tensor | null)[] | null {
  return v === null ? null : asOptionalTensors(v, op, arg)
}

/** A list of ints; where the schema says int[size], a single int stands for `size` equal ones. */
export function asInts(v: Value, op: number, arg: number, size = 0): number[] {
  if (!Array.isArray(v)) return listOf(v, op, arg, size, asInt)
  for (let i = 0; i < v.length; i++) {
    const item = v[i]
    if (typeof item !== 'number' || !Number.isInteger(item)) return listOf(v, op, arg, size, asInt)
  }
  return v as number[]
}

export function asIntsOrNull(v: Value, op: number, arg: number, size = 0): number[] | null {
  return v === null ? null : asInts(v, op, arg, size)
}

export function asFloats(v: Value, op: number, arg: number, size = 0): number[] {
  return listOf(v, op, arg, size, asFloat)
}

export function asFloatsOrNull(v: Value, op: number, arg: number, size = 0): number[] | null {
  return v === null ? null : asFloats(v, op, arg, size)
}

export function asBools(v: Value, op: number, arg: number, size = 0): boolean[] {
  return listOf(v, op, arg, size, asBool)
}

export function asBoolsOrNull(v: Value, op: number, arg: number, size = 0): boolean[] | null {
  return v === null ? null : asBools(v, op, arg, size)
}

export function asStrs(v: Value, op: number, arg: number, size = 0): string[] {
  return listOf(v, op, arg, size, asStr)
}

export function asStrsOrNull(v: Value, op: number, arg: number, size = 0): string[] | null {
  return v === null ? null : asStrs(v, op, arg, size)
}

export function asScalars(v: Value, op: number, arg: number, size = 0): Scalar[] {
  return listOf(v, op, arg, size, asScalar)
}

export function asScalarsOrNull(v: Value, op: number, arg: number, size = 0): Scalar[] | null {
  return v === null ? null : asScalars(v, op, arg, size)
}

export function asCustom(v: Value, op: number, arg: number): CustomObject {
  if (v instanceof CustomObject) return v
  return wrongType(v, op, arg)
}

export function asCustomOrNull(v: Value, op: number, arg: number): CustomObject | null {
  return v === null ? null : asCustom(v, op, arg)
}

export function asCustoms(v: Value, op: number, arg: number): CustomObject[] {
  return listOf(v, op, arg, 0, asCustom)
}

/** The list itself, so that its changes are seen by all who hold it. */
export function asList(v: Value, op: number, arg: number): Value[] {
  if (Array.isArray(v)) return v
  return wrongType(v, op, arg)
}

export function asListOrNull(v: Value, op: number, arg: number): Value[] | null {
  return v === null ? null : asList(v, op, arg)
}

export function asDict(v: Value, op: number, arg: number): Map<DictKey, Value> {
  if (v instanceof Map) return v
  return wrongType(v, op, arg)
}

export function asDictOrNull(v: Value, op: number, arg: number): Map<DictKey, Value> | null {
  return v === null ? null : asDict(v, op, arg)
}

export function asTuple(v: Value, op: number, arg: number): Tuple {
  if (v instanceof Tuple) return v
  return wrongType(v, op, arg)
}

export function asTupleOrNull(v: Value, op: number, arg: number): Tuple | null {
  return v === null ? null : asTuple(v, op, arg)
}

/** Any value; a plain fraction is a float. */
export function asAny(v: Value, _op: number, _arg: number): Value {
  return typeof v === 'number' && !Number.isInteger(v) ? new Float(v) : v
}

/** The items of a list or tuple. */
function items(v: Value): Value[] | null {
  return Array.isArray(v) ? v : v instanceof Tuple ? v.items : null
}

function listOf<T>(v: Value, op: number, arg: number, size: number, element: (v: Value, op: number, arg: number) => T): T[] {
  const list = items(v)
  if (list !== null) return list.map((item) => element(item, op, arg))
  return size === 0 ? wrongType(v, op, arg) : new Array<T>(size).fill(element(v, op, arg))
}
