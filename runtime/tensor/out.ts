import { check, PtliteError } from '../error.js'
import { canCast, type DType, dtypeName } from './dtype.js'
import { contiguousStrides, extentOf, sameShape } from './shape.js'
import { roomFor } from './room.js'
import { become, bytesFor, type Tensor, viewOf } from './tensor.js'
import { isDense } from './view-strides.js'

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
