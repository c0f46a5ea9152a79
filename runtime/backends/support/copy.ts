import { check } from '../../error.js'
import type { DType } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import { checkOverlap } from '../../tensor/out.js'
import { broadcastShapes, sameShape, shapeText } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/write.js'
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

/** `t` itself where it has this dtype, else a converted copy. */
export function castTo(t: Tensor, type: DType): Tensor {
  return t.type === type ? t : converted(t, type)
}
