import * as kernels from '../../native/generated/kernels.js'
import { partOf, viewAsReal } from '../../tensor/complex.js'
import { DType, holdsComplex, isLimited } from '../../tensor/dtype.js'
import { denseLoop, planLoop } from '../../tensor/iterator.js'
import { sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'

/** dst = src, converted to its dtype, where `src` broadcasts to it and they do not overlap. */
export function runCopy(dst: Tensor, src: Tensor): void {
  if (holdsComplex(dst) || holdsComplex(src)) {
    copyComplex(dst, src)
    return
  }
  const isOther = dst.type !== src.type && (isLimited(dst.type) || isLimited(src.type))
  const isDense = dst.isContiguous && src.isContiguous && sameShape(dst.shape, src.shape)
  const loop = isDense ? denseLoop(dst.numel) : planLoop(dst.shape, [dst, src])
  const kernel = isOther ? kernels.convert_limited : kernels.copy
  kernel({
    ndim: loop.ndim,
    out_dtype: isOther ? dst.type : moved(dst.type),
    in_dtype: isOther ? src.type : moved(src.type),
    n: loop.n,
    out: dst.address,
    in: src.address,
    sizes: loop.sizes,
    out_strides: loop.strides[0]!,
    in_strides: loop.strides[1]!,
  })
}

/** The dtype as which elements are moved: kernels know no other ones than those with arithmetic. */
function moved(type: DType): DType {
  return isLimited(type) ? INTEGERS[type - DType.float8_e5m2]! : type
}

const INTEGERS: readonly DType[] = [DType.uint8, DType.uint8, DType.uint8, DType.uint8, DType.int16, DType.int32, DType.int64]

/** Between reals and complex numbers: the imaginary parts are 0, or dropped. */
function copyComplex(dst: Tensor, src: Tensor): void {
  if (!holdsComplex(dst)) runCopy(dst, partOf(src, 0))
  else if (holdsComplex(src)) runCopy(viewAsReal(dst), viewAsReal(src))
  else if (dst.isContiguous) {
    kernels.mem_fill({ address: dst.address, bytes: dst.numel * dst.itemSize, value: 0 })
    runCopy(partOf(dst, 0), src)
  } else {
    const dense = empty(dst.shape, dst.type)
    copyComplex(dense, src)
    runCopy(viewAsReal(dst), viewAsReal(dense))
  }
}
