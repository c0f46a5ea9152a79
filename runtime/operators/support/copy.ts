import { check } from '../../error.js'
import type { DType } from '../../tensor/dtype.js'
import { emptyLike, preservedStrides } from '../../tensor/iterator.js'
import { checkOverlap } from '../../tensor/out.js'
import { broadcastShapes, contiguousStrides, sameShape, shapeText } from '../../tensor/shape.js'
import { become, empty, emptyStrided, type Tensor, viewOf } from '../../tensor/tensor.js'
import { MemoryFormat } from '../../tensor/options.js'
import { isContiguousAs, stridesFor, suggestedFormat } from '../../tensor/view-strides.js'
import { noteWrite } from '../../tensor/observe.js'
import { converted } from './converted.js'
import { runCopy } from './run-copy.js'

/** dst = src, broadcast to dst's shape and converted to its dtype. Integers of quantized tensors are copied as they are. */
export function copyInto(dst: Tensor, src: Tensor): void {
  if (dst === src) return
  check(
    sameShape(dst.shape, src.shape) || sameShape(broadcastShapes(dst.shape, src.shape), dst.shape),
    () => `a tensor of shape ${shapeText(src.shape)} cannot be copied into one of shape ${shapeText(dst.shape)}`,
  )
  checkOverlap(dst, [src])
  runCopy(dst, src)
  noteWrite(dst)
}

/** `t` itself where it is row-major, else a row-major copy. */
export function contiguousOf(t: Tensor): Tensor {
  return t.isContiguous ? t : contiguousCopy(t)
}

/** A row-major copy that shares nothing with `t`. */
export function contiguousCopy(t: Tensor): Tensor {
  const copy = empty(t.shape, t.type, t.quant)
  runCopy(copy, t)
  return copy
}

/** A copy that keeps the order of dimensions in memory. */
export function cloneOf(t: Tensor): Tensor {
  const copy = emptyLike(t)
  runCopy(copy, t)
  return copy
}

/** `t`, which nobody else has yet, with these strides, which cover its shape densely. */
export function laidOut(t: Tensor, strides: readonly number[]): Tensor {
  if (sameShape(t.strides, strides)) return t
  const isSame = (_: unknown, d: number): boolean => t.shape[d] === 1 || t.strides[d] === strides[d]
  if (t.numel === 0 || strides.every(isSame)) {
    become(t, t.storage, t.offset, t.shape, strides)
    return t
  }
  const copy = emptyStrided(t.shape, strides, t.type, t.quant)
  runCopy(copy, t)
  return copy
}

/** `t`, which nobody else has yet, in memory as a copy of `like` would be. */
export function laidOutLike(t: Tensor, like: Tensor): Tensor {
  return laidOut(t, preservedStrides(like))
}

/** Strides for a result of this shape in the memory format that `like` suggests. */
export function suggestedStrides(like: Tensor, shape: readonly number[]): number[] {
  const format = suggestedFormat(like.shape, like.strides)
  return like.dim === shape.length ? stridesFor(shape, format) : contiguousStrides(shape)
}

/** `t`, which nobody else has yet, in the memory format that `like` suggests. */
export function laidOutAsSuggested(t: Tensor, like: Tensor): Tensor {
  return laidOut(t, suggestedStrides(like, t.shape))
}

/** `t`, which nobody else has yet, in the memory format in which `like` is dense: rows, unless it has channels last. */
export function laidOutInFormatOf(t: Tensor, like: Tensor): Tensor {
  const { shape, strides } = like
  const last = [MemoryFormat.channelsLast, MemoryFormat.channelsLast3d].find((format) => isContiguousAs(shape, strides, format))
  return like.isContiguous || last === undefined ? t : laidOut(t, stridesFor(t.shape, last))
}

/**
 * A copy of `t` and of whatever else its storage holds, as clone_preserve_strides: views at other places of it are views of the copy, too. Elements
 * that share memory get some of their own.
 */
export function cloneWithStrides(t: Tensor): Tensor {
  const overlaps = t.numel > 0 && t.shape.some((size, d) => size > 1 && t.strides[d] === 0)
  if (overlaps) return cloneOf(t)
  const count = t.storage.byteLength / t.itemSize
  const all = contiguousCopy(viewOf(t, [Math.floor(count)], [1], 0))
  return viewOf(all, t.shape, t.strides, t.offset)
}

/** The elements of `t` in the memory format that it suggests, copied where they lie otherwise. */
export function asSuggested(t: Tensor): Tensor {
  const strides = suggestedStrides(t, t.shape)
  if (sameShape(t.strides, strides)) return t
  const isSame = (_: unknown, d: number): boolean => t.shape[d] === 1 || t.strides[d] === strides[d]
  return t.numel === 0 || strides.every(isSame) ? viewOf(t, t.shape, strides) : laidOut(t, strides)
}

/** `t`, which nobody else has yet, in rows. */
export function laidOutInRows(t: Tensor): Tensor {
  return laidOut(t, contiguousStrides(t.shape))
}

/** `t` itself where it has this dtype, else a converted copy. */
export function castTo(t: Tensor, type: DType): Tensor {
  return t.type === type ? t : converted(t, type)
}
