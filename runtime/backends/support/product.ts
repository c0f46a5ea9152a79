import { check, PtliteError } from '../../error.js'
import { HOLDS_HALVES } from '../../held.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, dtypeName, isComplex, isIntegral } from '../../tensor/dtype.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { broadcastShapes, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/write.js'
import { complexProduct, type RealProduct } from './complex-product.js'
import { castTo } from './copy.js'
import { deliver } from './deliver.js'
import type { PostFields } from '../../shapes/post-ops.js'
import { computeType } from './real.js'

/** What is added to a product: beta * source, broadcast to the result. */
export interface Addend {
  readonly source: Tensor
  readonly beta: number
}

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

/** Strides of `t` broadcast to `shape`; throws unless that is possible. */
function broadcastStrides(operator: string, t: Tensor, shape: readonly number[]): number[] {
  check(
    t.dim <= shape.length && sameShape(broadcastShapes(t.shape, shape), shape),
    () => `${operator}: a tensor of shape [${t.shape.join(', ')}] cannot be expanded to [${shape.join(', ')}]`,
  )
  const lead = shape.length - t.dim
  return shape.map((size, d) => (d < lead || (t.shape[d - lead] === 1 && size !== 1) ? 0 : t.strides[d - lead]!))
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
  if (isComplex(type)) {
    const real: RealProduct = (full, x, y, factor, added) => product(operator, full, x, y, factor, added)
    return complexProduct(real, shape, a, b, alpha, addend, out)
  }
  checkProductType(operator, type)
  if (out !== undefined && out.type !== type) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected an out tensor of dtype ${dtypeName(type)}, found ${out.dtype}`)
  }
  if (HOLDS_HALVES && type === DType.bfloat16 && !roundsEachStep(a, b)) return bfloat16Product(operator, shape, a, b, alpha, addend, out)
  const inner = type === DType.bfloat16 ? type : computeType(type)
  const x = castTo(a, inner)
  const y = castTo(b, inner)
  const source = addend === null || addend.beta === 0 ? null : castTo(addend.source, inner)
  const direct = out !== undefined && inner === type && sameShape(out.shape, shape) && out.isContiguous && writable(out, a, b, source)
  const result = direct ? out : empty(shape, inner)
  multiply(operator, x, y, alpha, source, addend === null ? 0 : addend.beta, result, post)
  if (direct) {
    noteWrite(out)
    return out
  }
  return deliver(castTo(result, type), out)
}

/**
 * `product` for bfloat16. An element differs from the exact one by at most (k + 2) 2^-23 sum |a b| before it is rounded; the
 * levels with instructions for bfloat16 also take denormal numbers as zero.
 */
function bfloat16Product(
  operator: string,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  alpha: number,
  addend: Addend | null,
  out?: Tensor,
): Tensor {
  const source = addend === null || addend.beta === 0 ? null : castTo(addend.source, a.type)
  const direct = out !== undefined && sameShape(out.shape, shape) && out.isContiguous && writable(out, a, b, source)
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
  if (!direct) return deliver(result, out)
  noteWrite(out)
  return out
}

interface Sizes {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly batch: number
}

function sizesOf(a: Tensor, b: Tensor): Sizes {
  const batch = a.dim === 3 ? a.shape[0]! : b.dim === 3 ? b.shape[0]! : 1
  return { m: a.shape[a.dim - 2]!, n: b.shape[b.dim - 1]!, k: a.shape[a.dim - 1]!, batch }
}

/** Addresses and strides of the operands of a matrix product with a contiguous result. */
function placesOf(operator: string, a: Tensor, b: Tensor, source: Tensor | null, c: Tensor, { m, n, batch }: Sizes) {
  const ra = a.dim
  const rb = b.dim
  const strides = source === null ? NO_STRIDES : broadcastStrides(operator, source, c.dim === 2 || c.dim === 3 ? c.shape : [batch, m, n])
  const rank = strides.length
  return {
    a: a.address,
    b: b.address,
    c: c.address,
    source: source === null ? 0 : source.address,
    a_row: a.strides[ra - 2]!,
    a_col: a.strides[ra - 1]!,
    a_batch: ra === 3 ? a.strides[0]! : 0,
    b_row: b.strides[rb - 2]!,
    b_col: b.strides[rb - 1]!,
    b_batch: rb === 3 ? b.strides[0]! : 0,
    c_row: n,
    c_batch: m * n,
    source_row: strides[rank - 2] ?? 0,
    source_col: strides[rank - 1] ?? 0,
    source_batch: strides[rank - 3] ?? 0,
  }
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
  if (post !== null) {
    kernels.gemm_post({ dtype: c.type, ...sizes, ...at, packed: 0, clamped: 0, alpha, beta, lo: 0, hi: 0, ...post })
    return
  }
  // written out in full: an object spread of this many fields takes longer than a small product
  kernels.gemm({
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
  })
}

/** Multiplications up to which PyTorch leaves bfloat16 products to plain loops. */
const SMALL_PRODUCT = 16 ** 3

/** PyTorch's loops for small bfloat16 products round every step; results of both ways differ by more than a rounding. */
function roundsEachStep(a: Tensor, b: Tensor): boolean {
  if (a.type !== DType.bfloat16) return false
  const n = b.shape[b.dim - 1]!
  return (n === 1 || b.strides[b.dim - 1] === 1) && a.numel * n <= SMALL_PRODUCT
}

const NO_STRIDES: readonly number[] = []

/** The kernel may write into `out` while it reads its operands: no operand shares its storage, or the source is `out` itself. */
function writable(out: Tensor, a: Tensor, b: Tensor, source: Tensor | null): boolean {
  if (out.storage === a.storage || out.storage === b.storage) return false
  return source === null || source === out || source.storage !== out.storage
}
