import { absent, check, PtliteError } from '../error.js'
import { canCast, type DType, dtypeName } from './dtype.js'
import { contiguousStrides, extentOf, numelOf, sameShape, shapeText } from './shape.js'
import { become, bytesFor, empty, Tensor, viewOf } from './tensor.js'
import { isDense } from './view-strides.js'
import { noteUse } from '../traced-parts.js'
import type { Operand } from './promote.js'
import * as features from '../features.js'
import { mem_copy } from '../native/generated/kernels.js'
import { Storage } from './storage.js'

/** Tensors that an operator is given to write into. */

/** Gives `out` the shape of a result; a storage that is too small grows. `strides` are those of a result of its own, which `out` gets with a new shape. */
export function resizeOut(out: Tensor, shape: readonly number[], strides: readonly number[] = contiguousStrides(shape)): void {
  if (sameShape(out.shape, shape)) return
  const bytes = bytesFor(shape, out.type)
  become(out, roomFor(out, bytes === 0 ? 0 : out.offset * out.itemSize + bytes, false), out.offset, shape, strides)
}

/** Throws INVALID_DTYPE where a result of dtype `from` must not be written into `to`. */
export function checkCast(from: DType, to: DType): void {
  if (!canCast(from, to)) {
    throw new PtliteError('INVALID_DTYPE', `result type ${dtypeName(from)} can't be cast to the desired output type ${dtypeName(to)}`)
  }
}

/** True for an expanded tensor, whose elements stand in the same place of memory. */
export function isRepeated({ numel, shape, strides }: Tensor): boolean {
  return numel > 0 && shape.some((size, d) => size > 1 && strides[d] === 0)
}

/** The places in memory that an expanded tensor stands for, once each. */
export function placesOf(t: Tensor): Tensor {
  return isRepeated(t) ? oneOfRepeated(t, t, () => 0) : t
}

/** `values`, of the shape of an expanded `t`, as far as they are left of it where each is written in turn: the last of those in one place. */
export function lastWritten(values: Tensor, t: Tensor): Tensor {
  return oneOfRepeated(values, t, (size) => size - 1)
}

/** `values` at one index of each dimension in which `t` is repeated. */
function oneOfRepeated(values: Tensor, { shape, strides }: Tensor, indexOf: (size: number) => number): Tensor {
  const isOne = (d: number): boolean => strides[d] === 0 && shape[d]! > 1
  const offset = values.strides.reduce((sum, stride, d) => (isOne(d) ? sum + stride * indexOf(shape[d]!) : sum), values.offset)
  return viewOf(
    values,
    shape.map((size, d) => (isOne(d) ? 1 : size)),
    values.strides,
    offset,
  )
}

/** Throws where two indices of the written tensor share memory, or where it shares memory with part of an input. */
export function checkOverlap(out: Tensor, inputs: readonly Tensor[]): void {
  check(!isRepeated(out), () => 'more than one element of the written-to tensor refers to a single memory location')
  const sharesWithInput = inputs.some((t) => t !== out && t.storage === out.storage && overlapsInPart(out, t))
  check(!sharesWithInput, () => 'some elements of the input tensor and the written-to tensor refer to a single memory location')
}

/** Throws where the written-to tensor shares memory with an input or is one of them, be it empty: it is resized before inputs are read. */
export function checkDisjoint(out: Tensor, inputs: readonly Tensor[]): void {
  const [start, end] = bytesOf(out)
  for (const one of inputs) {
    const [from, to] = bytesOf(one)
    check(one !== out && (one.storage !== out.storage || from >= end || start >= to), () =>
      'some elements of the input tensor and the written-to tensor refer to a single memory location',
    ) // prettier-ignore
  }
}

/** Throws where the written-to tensor is one that is read, or where dense views of both share memory. */
export function checkApart(out: Tensor, read: Tensor): void {
  const sharing = out === read || (out.storage === read.storage && (overlapsInPart(out, read) || liesOver(out, read)))
  check(!sharing, () => 'some elements of the input tensor and the written-to tensor refer to a single memory location')
}

/** Dense views of the same elements in the same order. */
function liesOver(a: Tensor, b: Tensor): boolean {
  const [start, end] = bytesOf(a)
  return start < end && start === bytesOf(b)[0] && sameStrides(a, b) && isDense(a.shape, a.strides)
}

/** As PyTorch, only judges dense views. */
function overlapsInPart(a: Tensor, b: Tensor): boolean {
  if (!isDense(a.shape, a.strides) || !isDense(b.shape, b.strides)) return false
  const [startA, endA] = bytesOf(a)
  const [startB, endB] = bytesOf(b)
  if (startA === startB && endA === endB && sameStrides(a, b)) return false
  return startA < endB && startB < endA
}

/** Where a view starts and ends in its storage. */
function bytesOf(t: Tensor): [start: number, end: number] {
  return [t.offset * t.itemSize, (t.offset + extentOf(t.shape, t.strides)) * t.itemSize]
}

function sameStrides(a: Tensor, b: Tensor): boolean {
  return a.type === b.type && sameShape(a.shape, b.shape) && a.strides.every((s, d) => s === b.strides[d] || a.shape[d] === 1)
}

/** `out`, to be written: see resultTensor. `strides` are those of a new result. */
export function preparedOut(
  out: Tensor,
  shape: readonly number[],
  strides: () => readonly number[],
  type: DType,
  operands: readonly Operand[],
): Tensor {
  if (!features.writes) throw absent('an operator that writes into a given tensor', 'MISSING_KERNEL')
  checkCast(type, out.type)
  const inputs = operands.filter((t) => t instanceof Tensor)
  if (!inputs.includes(out)) {
    if (!sameShape(out.shape, shape)) resizeOut(out, shape, strides())
  } else if (!sameShape(out.shape, shape)) {
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `output with shape ${shapeText(out.shape)} doesn't match the broadcast shape ${shapeText(shape)}`,
    )
  }
  checkOverlap(out, inputs)
  noteUse('writes')
  return out
}

/**
 * Gives `self` this shape in place (`resize_`): what fits keeps its elements in storage order, new elements are
 * undefined. A storage that is too small grows, for all that view it. A tensor that has the shape keeps its strides unless others are given.
 */
export function resize(self: Tensor, shape: readonly number[], given?: readonly number[]): Tensor {
  if (given === undefined && sameShape(self.shape, shape)) return self
  const strides = given ?? contiguousStrides(shape)
  check(
    shape.every((n) => n >= 0),
    () => `expected sizes of at least 0, found [${shape.join(', ')}]`,
  )
  const needed = numelOf(shape) === 0 ? 0 : (self.offset + extentOf(shape, strides)) * self.itemSize
  become(self, roomFor(self, needed, true), self.offset, shape.slice(), strides.slice())
  return self
}

/**
 * Where an operator writes a result of this shape and dtype: a new tensor without `out`, else `out`, resized to the
 * shape where it differs. Throws INVALID_ARGUMENT where the dtype cannot be written into `out`.
 */
export function outputFor(out: Tensor | undefined, shape: readonly number[], dtype: DType): Tensor {
  if (out === undefined) return empty(shape, dtype)
  check(canCast(dtype, out.type), () => `a result of dtype ${dtypeName(dtype)} cannot be written into an out tensor of dtype ${out.dtype}`)
  return sameShape(out.shape, shape) ? out : resize(out, shape)
}

/**
 * The storage of `t`, of at least so many bytes: where it has less, it grows, and what else views it sees the same elements there. What
 * nobody else views gets another storage, which a plan can make, too. `kept`: its contents are read.
 */
export function roomFor(t: Tensor, bytes: number, kept: boolean): Storage {
  const { storage } = t
  const before = storage.byteLength
  if (bytes <= before) return storage
  const isShared = Storage.isShared(storage)
  const grown = Storage.allocate(bytes)
  if ((kept || isShared) && before > 0) mem_copy({ to: grown.address, from: storage.address, bytes: before })
  if (!isShared) return grown
  Storage.takeOver(storage, grown)
  return storage
}
