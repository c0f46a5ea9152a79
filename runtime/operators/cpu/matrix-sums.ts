import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { joined, notComplex } from '../../tensor/promote.js'
import { type AnyScalar, Complex, scalarToNumber } from '../../tensor/scalar.js'
import { broadcastShapes, sameShape } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { checkSameType, factorOf, product } from '../support/product.js'
import { asColumn, asRow, checkInner, shapeText } from '../support/matmul.js'
import { sparseSum } from './sparse-matmul.js'
import { add_out, mul_out } from './binary.js'
import { checkBatches, checkRank } from './matmul.js'

/** beta * self + alpha * a b, self broadcast to `shape`; in place `self` must have that shape already. */
function affineProduct(
  operator: string,
  self: Tensor,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  beta: AnyScalar,
  alpha: AnyScalar,
  out: Tensor | undefined,
): Tensor {
  checkSameType(operator, self, a)
  checkSameType(operator, a, b)
  check(
    out !== self || sameShape(self.shape, shape),
    () => `${operator}_: expected self of shape [${shape.join(', ')}], found ${shapeText(self)}`,
  )
  if (alpha instanceof Complex || beta instanceof Complex) {
    const plain = product(operator, shape, a, b, 1, null)
    const isZero = !(beta instanceof Complex) && scalarToNumber(beta) === 0
    return isZero ? mul_out(plain, alpha, out) : writeOut(add_out(mul_out(self, beta), plain, alpha), out)
  }
  const addend = { source: self, beta: factorOf(beta, self.type) }
  const factor = factorOf(alpha, self.type)
  check(
    self.dim <= shape.length && sameShape(broadcastShapes(self.shape, shape), shape),
    () => `${operator}: self of shape ${shapeText(self)} cannot be expanded to [${shape.join(', ')}]`,
  )
  return product(operator, shape, a, b, factor, addend, out)
}

/** beta * self + alpha * mat1 mat2. */
export function addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: AnyScalar, alpha: AnyScalar, out?: Tensor): Tensor {
  if (mat1.isSparse || mat2.isSparse) return sparseSum('addmm', self, mat1, mat2, beta, alpha, out)
  checkRank('addmm', 'mat1', mat1, 2)
  checkRank('addmm', 'mat2', mat2, 2)
  checkInner('addmm', mat1, mat2, mat1.shape[1] === mat2.shape[0])
  return affineProduct('addmm', self, [mat1.shape[0]!, mat2.shape[1]!], mat1, mat2, beta, alpha, out)
}

/** `self` in the dtype of the product, where it is not written to: PyTorch wants one dtype of addmm and addbmm alone. */
function addendAs(type: DType, self: Tensor, out: Tensor | undefined): Tensor {
  return out === self ? self : castTo(self, type)
}

/** beta * self + alpha * batch1 batch2, matrix by matrix. */
export function baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: AnyScalar, alpha: AnyScalar, out?: Tensor): Tensor {
  checkBatches('baddbmm', batch1, batch2)
  return affineProduct(
    'baddbmm',
    addendAs(batch1.type, self, out),
    [batch1.shape[0]!, batch1.shape[1]!, batch2.shape[2]!],
    batch1,
    batch2,
    beta,
    alpha,
    out,
  )
}

/** beta * self + alpha * the sum over the batch of batch1 batch2: one product over batch and inner dimension together. */
export function addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: AnyScalar, alpha: AnyScalar, out?: Tensor): Tensor {
  checkBatches('addbmm', batch1, batch2)
  const [count, m, k] = batch1.shape as [number, number, number]
  const n = batch2.shape[2]!
  const [s0, s1, s2] = batch1.strides as [number, number, number]
  const rows = contiguousOf(viewOf(batch1, [m, count, k], [s1, s0, s2]))
  const columns = contiguousOf(batch2)
  const depth = count * k
  return affineProduct('addbmm', self, [m, n], viewOf(rows, [m, depth], [depth, 1]), viewOf(columns, [depth, n], [n, 1]), beta, alpha, out)
}

/** beta * self + alpha * mat vec. */
export function addmv(given: Tensor, mat: Tensor, vec: Tensor, beta: AnyScalar, alpha: AnyScalar, out?: Tensor): Tensor {
  const self = addendAs(mat.type, given, out)
  checkRank('addmv', 'mat', mat, 2)
  checkRank('addmv', 'vec', vec, 1)
  checkInner('addmv', mat, vec, mat.shape[1] === vec.shape[0])
  const shape = [mat.shape[0]!]
  if (mat.numel === 0 && scalarToNumber(notComplex(beta)) !== 0 && self.numel > 0) {
    // as PyTorch: beta * self, which is not expanded here
    return product(
      'addmv',
      self.shape,
      viewOf(self, [1, 0], [0, 0]),
      viewOf(self, [0, self.numel], [0, 0]),
      1,
      { source: self, beta: factorOf(notComplex(beta), self.type) },
      out,
    )
  }
  check(
    self.dim === 0 || (self.dim === 1 && (self.shape[0] === 1 || self.shape[0] === shape[0])),
    () => `addmv: self of shape ${shapeText(self)} cannot be expanded to [${shape.join(', ')}]`,
  )
  // a row times the transposed matrix, so that the result and self lie along columns
  const transposed = viewOf(mat, [mat.shape[1]!, mat.shape[0]!], [mat.strides[1]!, mat.strides[0]!])
  return affineProduct('addmv', self, shape, asRow(vec), transposed, beta, alpha, out)
}

/** beta * self + alpha * vec1 vec2^T, in the dtype that all three promote to; of bools, whether it is not zero. */
export function addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: AnyScalar, alpha: AnyScalar, out?: Tensor): Tensor {
  checkRank('addr', 'vec1', vec1, 1)
  checkRank('addr', 'vec2', vec2, 1)
  const shape = [vec1.shape[0]!, vec2.shape[0]!]
  const type = joined(self.type, joined(vec1.type, vec2.type))
  const inner = type === DType.bool ? DType.uint8 : type
  const addend = castTo(self, inner)
  const target = out === self && inner === self.type ? out : undefined
  const result = affineProduct(
    'addr',
    target ?? addend,
    shape,
    asColumn(castTo(vec1, inner)),
    asRow(castTo(vec2, inner)),
    beta,
    alpha,
    target,
  )
  if (target !== undefined) return target
  check(out !== self || sameShape(self.shape, shape), () => `addr_: expected self of shape [${shape.join(', ')}], found ${shapeText(self)}`)
  return writeOut(castTo(result, type), out)
}
