import { check } from '../../error.js'
import { isComplex } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkSameType, product } from '../support/product.js'
import { _conj_physical } from './float-parts.js'
import { asColumn, asRow, checkInner, shapeText } from '../support/matmul.js'
import { writeOut } from '../support/write-out.js'
import { sparseMatmul } from './sparse-matmul.js'
import { checkRank } from './matmul.js'

/** mat vec. */
export function mv(self: Tensor, vec: Tensor, out?: Tensor): Tensor {
  if (self.isSparse) return writeOut(sparseMatmul('mv', self, vec), out)
  checkRank('mv', 'self', self, 2)
  checkRank('mv', 'vec', vec, 1)
  checkInner('mv', self, vec, self.shape[1] === vec.shape[0])
  checkSameType('mv', self, vec)
  return product('mv', [self.shape[0]!], self, asColumn(vec), 1, null, out)
}

/** Sum of products of two vectors, as a 0-dimensional tensor. */
export function dot(self: Tensor, tensor: Tensor, out?: Tensor): Tensor {
  check(
    self.dim === 1 && tensor.dim === 1 && self.shape[0] === tensor.shape[0],
    () => `dot: expected two vectors of the same size, found shapes ${shapeText(self)} and ${shapeText(tensor)}`,
  )
  checkSameType('dot', self, tensor)
  return product('dot', [], asRow(self), asColumn(tensor), 1, null, out)
}

/** `dot` with the conjugate of the first vector. */
export function vdot(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  return dot(isComplex(self.type) ? _conj_physical(self) : self, other, out)
}
