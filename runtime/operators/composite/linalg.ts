import { check, PtliteError } from '../../error.js'
import { isComplex, isFloating, isIntegral } from '../../tensor/dtype.js'
import { type Scalar, scalarToNumber, float } from '../../tensor/scalar.js'
import { numelOf, wrapDim } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { narrow } from '../../tensor/view.js'
import { laidOutInRows } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import * as at from '../generated/dispatch.js'
import { reshape } from './views.js'

/** Sum of the diagonal of a matrix. */
export function trace(self: Tensor, out?: Tensor): Tensor {
  check(self.dim === 2, () => `trace: expected a matrix, found shape [${self.shape.join(', ')}]`)
  if (!isIntegral(self.type, false) && !isFloating(self.type) && !isComplex(self.type)) {
    throw new PtliteError('INVALID_DTYPE', `trace: no trace of ${self.dtype} matrices`)
  }
  const [rows, cols] = self.shape as [number, number]
  const diagonal = viewOf(self, [Math.min(rows, cols)], [self.strides[0]! + self.strides[1]!])
  return writeOut(at.sum(diagonal, null), out)
}

/** Logarithms of determinants; NaN where they are negative. */
export function logdet(self: Tensor): Tensor {
  return at.log(at.linalg_det(self))
}

/** Distance of order p between two tensors. */
export function dist(self: Tensor, other: Tensor, p: Scalar, out?: Tensor): Tensor {
  return writeOut(at.norm_Scalar(at.sub_Tensor(self, other, 1), p), out)
}

/** Norms of order p of x1 - x2 + eps along the last dimension. */
export function pairwise_distance(x1: Tensor, x2: Tensor, p: number, eps: number, keepdim: boolean): Tensor {
  const rank = Math.max(x1.dim, x2.dim)
  const difference = at.add_Scalar(at.sub_Tensor(x1, x2, 1), float(eps), 1)
  return at.norm_ScalarOpt_dim(difference, float(p), [rank - 1], keepdim)
}

/** Scales slices along `dim` whose norm of order p exceeds maxnorm down to it. */
export function renorm(self: Tensor, p: Scalar, dim: number, maxnorm: Scalar, out?: Tensor): Tensor {
  check(self.dim >= 2, () => `renorm: expected a tensor with 2 or more dimensions, found shape [${self.shape.join(', ')}]`)
  check(
    scalarToNumber(p) > 0 && scalarToNumber(maxnorm) >= 0,
    () => `renorm: expected p > 0 and maxnorm >= 0, found ${String(p)} and ${String(maxnorm)}`,
  )
  const kept = wrapDim(dim, self.dim)
  const others = self.shape.map((_, d) => d).filter((d) => d !== kept)
  const norms = at.norm_ScalarOpt_dim(self, p, others, true)
  // 1e-7 as in PyTorch keeps the quotient finite
  const factors = at.mul_Scalar(at.reciprocal(at.add_Scalar(norms, float(1e-7), 1)), maxnorm)
  const scale = at.where_ScalarOther(at.gt_Scalar(norms, maxnorm), factors, float(1))
  return writeOut(laidOutInRows(at.mul_Tensor(self, scale)), out)
}

/** Sums over k of coefficients [m, k] times input [k, ...]. */
export function _compute_linear_combination(input: Tensor, coefficients: Tensor): Tensor {
  const operator = '_compute_linear_combination'
  const terms = coefficients.shape[1] ?? 0
  check(
    input.dim > 0 && coefficients.dim === 2 && terms <= input.shape[0]!,
    () => `${operator}: shapes [${input.shape.join(', ')}] and [${coefficients.shape.join(', ')}] do not fit together`,
  )
  const rest = input.shape.slice(1)
  const sum = at.mm(coefficients, reshape(narrow(input, 0, 0, terms), [terms, numelOf(rest)]))
  return reshape(sum, [coefficients.shape[0]!, ...rest])
}

/** Adds them to what `out` holds, as PyTorch does. */
export function _compute_linear_combination_out(input: Tensor, coefficients: Tensor, out: Tensor): Tensor {
  return at.add__Tensor(out, _compute_linear_combination(input, coefficients), 1)
}

export function frobenius_norm(self: Tensor): Tensor {
  return at.norm_Scalar(self, 2)
}

/** Square root of the sum of squares over one or two dimensions, or all where none is given. */
export function frobenius_norm_dim(self: Tensor, dim: number[], keepdim: boolean): Tensor {
  check(dim.length <= 2, () => `frobenius_norm: expected at most 2 dimensions, found ${dim.length}`)
  return at.norm_ScalarOpt_dim(self, 2, dim, keepdim)
}
