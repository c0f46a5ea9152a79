import { partOf, viewAsComplex } from '../../tensor/complex.js'
import { type DType, realOf } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { view } from '../../tensor/view.js'
import { castTo, copyInto } from './copy.js'
import { writeOut } from './write-out.js'
import { type Addend, sizesOf } from './product-places.js'

export type RealProduct = (shape: readonly number[], a: Tensor, b: Tensor, alpha: number, addend: Addend | null) => Tensor

/** A product of complex matrices as four real ones: `real` multiplies parts, to a tensor of `shape`. */
export function complexProduct(
  real: RealProduct,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  alpha: number,
  addend: Addend | null,
  out?: Tensor,
): Tensor {
  const type: DType = a.type
  const [re, im] = [0, 1] as const
  const part = (index: 0 | 1): Addend | null => addend && { ...addend, source: partOf(castTo(addend.source, type), index) }
  // addends come with the dimensions of matrices
  const { batch, m, n } = sizesOf(a, b)
  const full = [batch, m, n]
  const added = (sum: Tensor): Addend => ({ source: sum, beta: 1 })
  const result = viewAsComplex(empty([...full, 2], realOf(type)))
  const squares = real(full, partOf(a, re), partOf(b, re), alpha, part(re))
  copyInto(partOf(result, re), real(full, partOf(a, im), partOf(b, im), -alpha, added(squares)))
  const crossed = real(full, partOf(a, re), partOf(b, im), alpha, part(im))
  copyInto(partOf(result, im), real(full, partOf(a, im), partOf(b, re), alpha, added(crossed)))
  return writeOut(view(result, shape), out)
}
