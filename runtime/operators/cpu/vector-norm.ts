import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { canCast, type DType, dtypeName, holdsComplex, isComplex, isFloating, realOf } from '../../tensor/dtype.js'
import { promoteTypes } from '../../tensor/promote.js'
import { Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { computeFor, runBinary, runUnary } from './support/elementwise.js'
import { computeType as realType } from '../support/real.js'
import { reduce, type ReduceOpName } from '../support/reduce.js'
import { reducedDims, reducedShape } from '../../shapes/dims.js'
import { zerosOf } from '../support/make.js'
import { abs_out } from './unary.js'
import type { CPU } from '../support/generated/interfaces.js'

/** The fold that computes the norm of this order; general orders also need `p`. */
function foldOf(order: number): ReduceOpName {
  if (order === 0) return 'count_nonzero'
  if (order === 1) return 'norm1'
  if (order === 2) return 'norm2'
  if (order === Infinity) return 'norm_max'
  return order === -Infinity ? 'norm_min' : 'normp'
}

function vectorNorm(self: Tensor, order: number, dim: readonly number[] | null, keepdim: boolean, type: DType): Tensor {
  return reduce(foldOf(order), castTo(self, type), dim, keepdim, type, { p: order })
}

/** Norms of complex numbers are those of their absolute values, in the real dtype of as many bits. */
function sizesOf(self: Tensor, dtype: DType | null): [Tensor, DType | null] {
  if (!holdsComplex(self)) return [self, dtype]
  if (dtype !== null && !isComplex(dtype))
    throw new PtliteError('INVALID_DTYPE', `norm: expected a complex dtype, found ${dtypeName(dtype)}`)
  return [abs_out(dtype === null ? self : castTo(self, dtype)), dtype === null ? null : realOf(dtype)]
}

function floatingType(operator: string, what: string, type: DType): DType {
  if (!isFloating(type)) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating point ${what}, found ${dtypeName(type)}`)
  return type
}

function norm(given: Tensor, p: Scalar | null, dim: readonly number[] | null, keepdim: boolean, asked: DType | null, out?: Tensor): Tensor {
  const [self, dtype] = sizesOf(given, asked)
  if (dtype === null) floatingType('norm', 'input', self.type)
  const type = floatingType('norm', 'dtype', dtype ?? self.type)
  if (self.numel === 0) return writeOut(zerosOf(reducedShape(self.shape, reducedDims(dim, self.dim), keepdim), type), out)
  return writeOut(vectorNorm(self, p === null ? 2 : scalarToNumber(p), dim, keepdim, type), out)
}

/** torch.norm over all dims: the p-norm of the elements, 0 where there are none. */
export function norm_Scalar(self: Tensor, p: Scalar, out?: Tensor): Tensor {
  return norm(self, p, null, false, null, out)
}

export function norm_ScalarOpt_dim(self: Tensor, p: Scalar | null, dim: number[], keepdim: boolean, out?: Tensor): Tensor {
  return norm(self, p, dim, keepdim, null, out)
}

export function norm_ScalarOpt_dtype(self: Tensor, p: Scalar | null, dtype: DType, out?: Tensor): Tensor {
  return norm(self, p, null, false, dtype, out)
}

export const norm_ScalarOpt_dim_dtype: CPU['norm_ScalarOpt_dim_dtype'] = (self, p, dim, keepdim, dtype, out) =>
  norm(self, p, dim, keepdim, dtype, out)

/** torch.linalg.vector_norm. Orders without an identity need elements in each folded dim. */
export const linalg_vector_norm: CPU['linalg_vector_norm'] = (given, ord, dim, keepdim, asked, out) => {
  const [self, dtype] = sizesOf(given, asked)
  floatingType('linalg_vector_norm', 'input', self.type)
  const type = floatingType('linalg_vector_norm', 'dtype', dtype ?? self.type)
  if (promoteTypes(self.type, type) !== type || !canCast(self.type, type)) {
    throw new PtliteError('INVALID_DTYPE', `linalg_vector_norm: ${self.dtype} cannot be narrowed to ${dtypeName(type)}`)
  }
  const order = scalarToNumber(ord)
  const folded = reducedDims(dim, self.dim)
  const elements = self.shape.every((n, d) => !folded[d] || n > 0)
  if (!elements && (order < 0 || order === Infinity)) {
    throw new PtliteError('INVALID_ARGUMENT', `linalg_vector_norm: the norm of order ${order} of no elements has no value`)
  }
  return writeOut(vectorNorm(self, order, dim, keepdim, type), out)
}

/** The sum of |x|^ord over `dim` (null: all): linalg_vector_norm without its root. */
export function linalg__powsum(given: Tensor, ord: Scalar, dim: number[] | null, keepdim: boolean, asked: DType | null): Tensor {
  const [self, dtype] = sizesOf(given, asked)
  const type = floatingType('linalg__powsum', 'dtype', dtype ?? self.type)
  const inner = realType(type)
  const sizes = runUnary(kernels.unary, kernels.UnaryOp.abs, castTo(self, inner), inner, computeFor(inner), undefined)
  const powers = runBinary(kernels.BinaryOp.pow, sizes, new Float(scalarToNumber(ord)), inner, inner, undefined)
  return castTo(reduce('sum', powers, dim, keepdim, inner), type)
}
