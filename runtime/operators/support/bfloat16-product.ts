import * as kernels from '../../native/generated/kernels.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'
import { castTo } from './copy.js'
import { writeOut } from './write-out.js'
import { type Addend, placesOf, sizesOf, takesProduct } from './product-places.js'
import * as features from '../../features.js'
import { absent } from '../../error.js'

/**
 * `product` for bfloat16. An element differs from the exact one by at most (k + 2) 2^-23 sum |a b| before it is rounded; the
 * levels with instructions for bfloat16 also take denormal numbers as zero.
 */
export function bfloat16Product(
  operator: string,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  alpha: number,
  addend: Addend | null,
  out?: Tensor,
): Tensor {
  if (!features.half) throw absent('bfloat16')
  const source = addend === null || addend.beta === 0 ? null : castTo(addend.source, a.type)
  const direct = takesProduct(out, shape, a, b, source)
  const result = direct ? out : empty(shape, a.type)
  const sizes = sizesOf(a, b)
  if (sizes.batch * sizes.m * sizes.n > 0) {
    kernels.bfloat16_gemm({
      ...sizes,
      ...placesOf(operator, a, b, source, result, sizes),
      alpha,
      beta: addend === null ? 0 : addend.beta,
    })
  }
  if (!direct) return writeOut(result, out)
  noteWrite(out)
  return out
}
