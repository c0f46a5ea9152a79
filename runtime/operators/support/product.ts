import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, dtypeName, holdsComplex, isIntegral } from '../../tensor/dtype.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'
import { bfloat16Product } from './bfloat16-product.js'
import { complexProduct, type RealProduct } from './complex-product.js'
import { castTo } from './copy.js'
import { writeOut } from './write-out.js'
import type { PostFields } from '../../shapes/post-ops.js'
import { type Addend, placesOf, sizesOf, takesProduct } from './product-places.js'
import { computeType } from './real.js'
import { roundedLinear, roundedWeight } from './rounded-weight.js'

/** Throws INVALID_DTYPE unless a product has a meaning for this dtype. */
export function checkProductType(operator: string, type: DType): void {
  if (type > DType.float64 && type !== DType.bfloat16) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: no product of ${dtypeName(type)} tensors`)
  }
}

export function checkSameType(operator: string, a: Tensor, b: Tensor): void {
  if (a.type !== b.type)
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected tensors of the same dtype, found ${a.dtype} and ${b.dtype}`)
}

/** alpha or beta as a number, without its fraction for integer tensors. */
export function factorOf(value: Scalar, type: DType): number {
  return isIntegral(type) ? Math.trunc(scalarToNumber(value)) : scalarToNumber(value)
}

/**
 * alpha * a b + addend as a tensor of `shape`, which has the elements of [batch, m, n]. a is [m, k] or [batch, m, k], b
 * [k, n] or [batch, k, n], with any strides; sizes and dtypes agree. Half precision is computed in float32 and rounded once.
 * `out` as in structured operators: it may be the addend's source. `post`: steps on a float32 result.
 */
export function product(
  operator: string,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  alpha: number,
  addend: Addend | null,
  out?: Tensor,
  post: PostFields | null = null,
): Tensor {
  const { type } = a
  if (holdsComplex(a)) {
    const real: RealProduct = (full, x, y, factor, added) => product(operator, full, x, y, factor, added)
    return complexProduct(real, shape, a, b, alpha, addend, out)
  }
  checkProductType(operator, type)
  if (out !== undefined && out.type !== type) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected an out tensor of dtype ${dtypeName(type)}, found ${out.dtype}`)
  }
  if (type === DType.bfloat16 && !roundsEachStep(a, b)) return bfloat16Product(operator, shape, a, b, alpha, addend, out)
  const bias = out === undefined && alpha === 1 ? biasOf(addend, b) : undefined
  const rounded = bias === undefined || type !== DType.float32 || a.dim !== 2 ? null : roundedWeight(b, true)
  if (rounded !== null) return roundedLinear(a, rounded, bias!, null, post, shape)
  const inner = type === DType.bfloat16 ? type : computeType(type)
  const x = castTo(a, inner)
  const y = castTo(b, inner)
  const source = addend === null || addend.beta === 0 ? null : castTo(addend.source, inner)
  const direct = inner === type && takesProduct(out, shape, a, b, source)
  const result = direct ? out : empty(shape, inner)
  multiply(operator, x, y, alpha, source, addend === null ? 0 : addend.beta, result, post)
  if (direct) {
    noteWrite(out)
    return out
  }
  return writeOut(castTo(result, type), out)
}

/** An addend that is one dense row for all rows, or none: a bias; undefined for others. */
function biasOf(addend: Addend | null, b: Tensor): Tensor | null | undefined {
  if (addend === null || addend.beta === 0) return null
  const { source, beta } = addend
  const n = b.shape[b.dim - 1]!
  const isRow = source.type === DType.float32 && source.shape.at(-1) === n && source.strides.at(-1) === 1
  const isSame = source.shape.slice(0, -1).every((size, d) => size === 1 || source.strides[d] === 0)
  return beta === 1 && isRow && isSame ? viewOf(source, [n], [1]) : undefined
}

function multiply(
  operator: string,
  a: Tensor,
  b: Tensor,
  alpha: number,
  source: Tensor | null,
  beta: number,
  c: Tensor,
  post: PostFields | null,
): void {
  const sizes = sizesOf(a, b)
  if (sizes.batch * sizes.m * sizes.n === 0) return
  const at = placesOf(operator, a, b, source, c, sizes)
  // written out in full: an object spread of this many fields takes longer than a small product
  kernels.gemm(
    {
      dtype: c.type,
      m: sizes.m,
      n: sizes.n,
      k: sizes.k,
      batch: sizes.batch,
      packed: 0,
      clamped: 0,
      a: at.a,
      b: at.b,
      c: at.c,
      source: at.source,
      a_row: at.a_row,
      a_col: at.a_col,
      a_batch: at.a_batch,
      b_row: at.b_row,
      b_col: at.b_col,
      b_batch: at.b_batch,
      c_row: at.c_row,
      c_batch: at.c_batch,
      source_row: at.source_row,
      source_col: at.source_col,
      source_batch: at.source_batch,
      alpha,
      beta,
      lo: 0,
      hi: 0,
    },
    post,
  )
}

/** Multiplications up to which PyTorch leaves bfloat16 products to plain loops. */
const SMALL_PRODUCT = 16 ** 3

/** PyTorch's loops for small bfloat16 products round every step; results of both ways differ by more than a rounding. */
function roundsEachStep(a: Tensor, b: Tensor): boolean {
  if (a.type !== DType.bfloat16) return false
  const n = b.shape[b.dim - 1]!
  return (n === 1 || b.strides[b.dim - 1] === 1) && a.numel * n <= SMALL_PRODUCT
}
