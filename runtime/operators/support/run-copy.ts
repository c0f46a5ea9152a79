import * as kernels from '../../native/generated/kernels.js'
import { partOf, viewAsReal } from '../../tensor/complex.js'
import { holdsComplex } from '../../tensor/dtype.js'
import { denseLoop, planLoop } from '../../tensor/iterator.js'
import { sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'

/** dst = src, converted to its dtype, where `src` broadcasts to it and they do not overlap. */
export function runCopy(dst: Tensor, src: Tensor): void {
  if (holdsComplex(dst) || holdsComplex(src)) {
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
