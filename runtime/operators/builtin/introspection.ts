import { check, PtliteError } from '../../error.js'
import type { DType } from '../../tensor/dtype.js'
import { Layout, MemoryFormat } from '../../tensor/options.js'
import type { Int } from '../../tensor/scalar.js'
import { isSparse } from '../../tensor/sparse.js'
import { isChannelsLastStrides } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { Device, ScriptObject, type Value } from '../../tensor/value.js'
import { enumSlot } from './support/equality.js'
import { floatOf } from './support/scalar.js'

/* What a program can ask of a tensor, a device or an object without looking at data. */

const CPU = new Device('cpu')

export function tensor_len(t: Tensor): Int {
  check(t.dim > 0, () => 'len() of a tensor without dimensions')
  return t.shape[0]!
}

/** -1: the CPU has no index. */
export function get_device(_self: Tensor): Int {
  return -1
}

/** Whether the strides suggest the memory format, without the memory having to be dense. Only the channels-last ones can be asked for. */
export function is_strides_like(self: Tensor, memory_format: number): boolean {
  if (memory_format === MemoryFormat.channelsLast) return isChannelsLastStrides(self.shape, self.strides, 4)
  if (memory_format === MemoryFormat.channelsLast3d) return isChannelsLastStrides(self.shape, self.strides, 5)
  return false
}

export function is_dense(self: Tensor): boolean {
  return isNonOverlappingAndDense(self.shape, self.strides)
}

export function device(_a: Tensor): Device {
  return CPU
}

export function dtype(a: Tensor): DType {
  return a.type
}

export function itemsize(a: Tensor): Int {
  return a.itemSize
}

/** Bytes of the elements, whether or not they share memory. */
export function nbytes(a: Tensor): Int {
  return a.numel * a.itemSize
}

/** Whether elements share memory: 0 for no, 1 for yes, 2 where the strides do not tell at once (c10's MemOverlap). */
export function internal_overlap(self: Tensor): Int {
  if (isNonOverlappingAndDense(self.shape, self.strides)) return 0
  return self.shape.some((size, d) => size > 1 && self.strides[d] === 0) ? 1 : 2
}

export function layout(a: Tensor): number {
  return isSparse(a) ? a.layout : Layout.strided
}

export function is_sparse(a: Tensor): boolean {
  return layout(a) === Layout.sparse
}

export function is_cpu(_a: Tensor): boolean {
  return true
}

export function is_quantized(a: Tensor): boolean {
  return a.isQuantized
}

/** The same data without history: another tensor on the same storage. */
export function data(a: Tensor): Tensor {
  return viewOf(a, a.shape, a.strides)
}

/** None: there are no named tensors here. */
export function tensor_name(_a: Tensor): string | null {
  return null
}

let nextId = 1
const ids = new WeakMap<object, number>()

/** A number that no other object has; 0 for None. */
export function id(x: Value): Int {
  if (x === null || typeof x !== 'object') return 0
  const known = ids.get(x) ?? nextId++
  ids.set(x, known)
  return known
}

/** The element of a module container that has this number as its name. Throws MODEL_ERROR. */
export function module_at_index(self: Value, ind: Int): Value {
  return module_at_key(self, String(ind))
}

export function module_at_key(self: Value, ind: string): Value {
  check(self instanceof ScriptObject, () => 'expected a module container')
  const slot = self.names.indexOf(ind)
  if (slot < 0) throw new PtliteError('MODEL_ERROR', `AttributeError: ${self.typeName} has no element '${ind}'`)
  return self.slots[slot]!
}

export function enum_name(enum_: Value): string {
  return enumSlot(enum_, 'name') as string
}

export function enum_value_int(enum_: Value): Int {
  return enumSlot(enum_, 'value') as Int
}

export function enum_value_float(enum_: Value): number {
  return floatOf(enumSlot(enum_, 'value'))
}

export function enum_value_str(enum_: Value): string {
  return enumSlot(enum_, 'value') as string
}

/** Whether each element has its own place and no place is left out, in any order of the dimensions. */
function isNonOverlappingAndDense(shape: readonly number[], strides: readonly number[]): boolean {
  if (shape.length === 1) return shape[0]! < 2 || strides[0] === 1
  const byStride = shape.map((_, d) => d).filter((d) => shape[d] !== 1)
  // a dimension without elements is taken last
  byStride.sort((a, b) => (shape[a]! < 2 ? 1 : shape[b]! < 2 ? -1 : strides[a]! - strides[b]!))
  let step = 1
  for (const d of byStride) {
    if (shape[d]! < 2) return true
    if (strides[d] !== step) return false
    step *= shape[d]!
  }
  return true
}
