import { absent, check } from '../../error.js'
import { HOLDS_COMPLEX, HOLDS_MIXED_DTYPES } from '../../held.js'
import * as kernels from '../../native/generated/kernels.js'
import { partOf, viewAsReal } from '../../tensor/complex.js'
import { type DType, dtypeName, isComplex } from '../../tensor/dtype.js'
import { checkOverlap, denseLoop, emptyLike, planLoop } from '../../tensor/iterator.js'
import { broadcastShapes, sameShape, shapeText } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/write.js'

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

function runCopy(dst: Tensor, src: Tensor): void {
  if (HOLDS_COMPLEX && (isComplex(dst.type) || isComplex(src.type))) {
    copyComplex(dst, src)
    return
  }
  const isDense = dst.isContiguous && src.isContiguous && sameShape(dst.shape, src.shape)
  const loop = isDense ? denseLoop(dst.numel) : planLoop(dst.shape, [dst, src])
  kernels.copy({
    ndim: loop.ndim,
    out_dtype: dst.type,
    in_dtype: src.type,
    n: loop.n,
    out: dst.address,
    in: src.address,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    in_strides: loop.strides[1]!,
  })
}

/** Between reals and complex numbers: the imaginary parts are 0, or dropped. */
function copyComplex(dst: Tensor, src: Tensor): void {
  if (!isComplex(dst.type)) runCopy(dst, partOf(src, 0))
  else if (isComplex(src.type)) runCopy(viewAsReal(dst), viewAsReal(src))
  else if (dst.isContiguous) {
    kernels.mem_fill({ address: dst.address, bytes: dst.numel * dst.itemSize, value: 0 })
    runCopy(partOf(dst, 0), src)
  } else {
    const dense = empty(dst.shape, dst.type)
    copyComplex(dense, src)
    runCopy(viewAsReal(dst), viewAsReal(dense))
  }
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
  if (t.type === type) return t
  if (HOLDS_MIXED_DTYPES) return converted(t, type)
  throw absent(`the conversion of ${t.dtype} to ${dtypeName(type)}`)
}

function converted(t: Tensor, type: DType): Tensor {
  const copy = emptyLike(t, type)
  runCopy(copy, t)
  return copy
}
