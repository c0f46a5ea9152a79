import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, dtypeName, isComplex, promoteTypes } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { broadcastShapes, contiguousStrides, numelOf, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { deliver } from '../support/deliver.js'
import { PackSide, packedWeight } from '../support/packed-weight.js'
import { asColumn, asRow, checkInner, scaledMatmul, shapeText } from '../support/matmul.js'
import { checkSameType, factorOf, product } from '../support/product.js'
import { _conj_physical } from './unary.js'

function checkRank(operator: string, name: string, t: Tensor, rank: number): void {
  check(t.dim === rank, () => `${operator}: expected ${name} with ${rank} dimensions, found shape ${shapeText(t)}`)
}

/** [m, k] x [k, n]. */
export function mm(self: Tensor, mat2: Tensor, out?: Tensor): Tensor {
  checkRank('mm', 'self', self, 2)
  checkRank('mm', 'mat2', mat2, 2)
  checkInner('mm', self, mat2, self.shape[1] === mat2.shape[0])
  checkSameType('mm', self, mat2)
  return product('mm', [self.shape[0]!, mat2.shape[1]!], self, mat2, 1, null, out)
}

function checkBatches(operator: string, a: Tensor, b: Tensor): void {
  checkRank(operator, 'batch1', a, 3)
  checkRank(operator, 'batch2', b, 3)
  checkInner(operator, a, b, a.shape[0] === b.shape[0] && a.shape[2] === b.shape[1])
  checkSameType(operator, a, b)
}

/** [b, m, k] x [b, k, n]. */
export function bmm(self: Tensor, mat2: Tensor, out?: Tensor): Tensor {
  checkBatches('bmm', self, mat2)
  return product('bmm', [self.shape[0]!, self.shape[1]!, mat2.shape[2]!], self, mat2, 1, null, out)
}

/** beta * self + alpha * a b, self broadcast to `shape`; in place `self` must have that shape already. */
function affineProduct(
  operator: string,
  self: Tensor,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  beta: Scalar,
  alpha: Scalar,
  out: Tensor | undefined,
): Tensor {
  checkSameType(operator, self, a)
  checkSameType(operator, a, b)
  check(
    out !== self || sameShape(self.shape, shape),
    () => `${operator}_: expected self of shape [${shape.join(', ')}], found ${shapeText(self)}`,
  )
  const addend = { source: self, beta: factorOf(beta, self.type) }
  const factor = factorOf(alpha, self.type)
  check(
    self.dim <= shape.length && sameShape(broadcastShapes(self.shape, shape), shape),
    () => `${operator}: self of shape ${shapeText(self)} cannot be expanded to [${shape.join(', ')}]`,
  )
  return product(operator, shape, a, b, factor, addend, out)
}

/** beta * self + alpha * mat1 mat2. */
export function addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
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
export function baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
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
export function addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
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
export function addmv(given: Tensor, mat: Tensor, vec: Tensor, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
  const self = addendAs(mat.type, given, out)
  checkRank('addmv', 'mat', mat, 2)
  checkRank('addmv', 'vec', vec, 1)
  checkInner('addmv', mat, vec, mat.shape[1] === vec.shape[0])
  const shape = [mat.shape[0]!]
  if (mat.numel === 0 && scalarToNumber(beta) !== 0 && self.numel > 0) {
    // as PyTorch: beta * self, which is not expanded here
    return product(
      'addmv',
      self.shape,
      viewOf(self, [1, 0], [0, 0]),
      viewOf(self, [0, self.numel], [0, 0]),
      1,
      { source: self, beta: factorOf(beta, self.type) },
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

/** mat vec. */
export function mv(self: Tensor, vec: Tensor, out?: Tensor): Tensor {
  checkRank('mv', 'self', self, 2)
  checkRank('mv', 'vec', vec, 1)
  checkInner('mv', self, vec, self.shape[1] === vec.shape[0])
  checkSameType('mv', self, vec)
  return product('mv', [self.shape[0]!], self, asColumn(vec), 1, null, out)
}

/** The operands in the dtype of a product that is to have dtype `type`: their own, or float32 for halves. */
function widened(operator: string, type: DType, operands: readonly Tensor[]): Tensor[] {
  for (const t of operands) {
    const fits = t.type === type || (type === DType.float32 && isHalf(t.type))
    check(
      fits,
      () => `${operator}: a product of dtype ${dtypeName(type)} takes operands of that dtype, or halves for float32; found ${t.dtype}`,
    )
  }
  return operands.map((t) => castTo(t, type))
}

/** mm whose result has another dtype than its operands: float32 for halves, which are not rounded to theirs in between. */
export function mm_dtype(self: Tensor, mat2: Tensor, type: DType, out?: Tensor): Tensor {
  checkSameType('mm', self, mat2)
  const [a, b] = widened('mm', type, [self, mat2]) as [Tensor, Tensor]
  return mm(a, b, out)
}

export function bmm_dtype(self: Tensor, mat2: Tensor, type: DType, out?: Tensor): Tensor {
  checkSameType('bmm', self, mat2)
  const [a, b] = widened('bmm', type, [self, mat2]) as [Tensor, Tensor]
  return bmm(a, b, out)
}

export function addmm_dtype(self: Tensor, mat1: Tensor, mat2: Tensor, type: DType, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
  checkSameType('addmm', mat1, mat2)
  const [added, a, b] = widened('addmm', type, [self, mat1, mat2]) as [Tensor, Tensor, Tensor]
  return addmm(added, a, b, beta, alpha, out)
}

export function baddbmm_dtype(
  self: Tensor,
  batch1: Tensor,
  batch2: Tensor,
  type: DType,
  beta: Scalar,
  alpha: Scalar,
  out?: Tensor,
): Tensor {
  checkSameType('baddbmm', batch1, batch2)
  const [added, a, b] = widened('baddbmm', type, [self, batch1, batch2]) as [Tensor, Tensor, Tensor]
  return baddbmm(added, a, b, beta, alpha, out)
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

/** beta * self + alpha * vec1 vec2^T, in the dtype that all three promote to; of bools, whether it is not zero. */
export function addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
  checkRank('addr', 'vec1', vec1, 1)
  checkRank('addr', 'vec2', vec2, 1)
  const shape = [vec1.shape[0]!, vec2.shape[0]!]
  const type = promoteTypes(self.type, promoteTypes(vec1.type, vec2.type))
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
  return deliver(castTo(result, type), out)
}

/** Product of tensors of 1 or more dimensions: the last two are matrices, those before are broadcast. */
export function matmul(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  return scaledMatmul(self, other, 1, out)
}

/** x weight^T + bias over the last dimension: one kernel call in the usual case of contiguous float tensors. */
export function linear(input: Tensor, weight: Tensor, bias: Tensor | null, out?: Tensor): Tensor {
  const { type } = input
  if (
    out === undefined &&
    (type === DType.float32 || type === DType.float64) &&
    weight.type === type &&
    weight.shape.length === 2 &&
    weight.isContiguous &&
    input.isContiguous &&
    input.shape.length > 0 &&
    input.shape[input.shape.length - 1] === weight.shape[1] &&
    (bias === null || (bias.type === type && bias.shape.length === 1 && bias.shape[0] === weight.shape[0] && bias.isContiguous))
  ) {
    return clampedLinear(input, weight, bias, false, 0, 0)
  }
  check(weight.dim === 1 || weight.dim === 2, () => `linear: expected a weight with 1 or 2 dimensions, found shape ${shapeText(weight)}`)
  check(input.dim > 0, () => 'linear: expected an input with 1 or more dimensions')
  checkInner('linear', input, weight, input.shape[input.dim - 1] === weight.shape[weight.dim - 1])
  checkSameType('linear', input, weight)
  if (bias === null) return matmul(input, transposed(weight), out)
  checkSameType('linear', input, bias)
  check(
    weight.dim === 2 || input.dim === 1 || input.dim > 3,
    () => `linear: expected a weight with 2 dimensions beside a bias, found shape ${shapeText(weight)}`,
  )
  const shape = input.shape.slice(0, -1)
  if (weight.dim === 2) shape.push(weight.shape[0]!)
  check(
    bias.dim <= shape.length && sameShape(broadcastShapes(bias.shape, shape), shape),
    () => `linear: a bias of shape ${shapeText(bias)} cannot be expanded to [${shape.join(', ')}]`,
  )
  const k = input.shape[input.dim - 1]!
  const rows = contiguousOf(input)
  const m = numelOf(input.shape.slice(0, -1))
  const matrix = viewOf(rows, [m, k], [k, 1])
  const b = weight.dim === 1 ? asColumn(weight) : transposed(weight)
  const n = b.shape[1]!
  const source = broadcastTo(bias, shape)
  const added = contiguousOf(source)
  return deliver(
    viewOf(product('linear', [m, n], matrix, b, 1, { source: viewOf(added, [m, n], [n, 1]), beta: 1 }), shape, contiguousStrides(shape)),
    out,
  )
}

const transposed = (t: Tensor): Tensor => (t.dim === 1 ? t : viewOf(t, [t.shape[1]!, t.shape[0]!], [t.strides[1]!, t.strides[0]!]))

function broadcastTo(t: Tensor, shape: readonly number[]): Tensor {
  const lead = shape.length - t.dim
  return viewOf(
    t,
    shape,
    shape.map((size, d) => (d < lead || (t.shape[d - lead] === 1 && size !== 1) ? 0 : t.strides[d - lead]!)),
  )
}

/** Contiguous float input [..., k] and weight [n, k] of one dtype; bias [n]. The result is clamped to [lo, hi] where asked. */
export function clampedLinear(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  clamped: boolean,
  lo: number,
  hi: number,
  packed = 0,
): Tensor {
  return linearInto(input, weight, bias, clamped, lo, hi, packed, kernels.linear)
}

type LinearFrame = Parameters<typeof kernels.linear>[0]

/** `clampedLinear` by a kernel of the caller's. */
export function linearInto(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  clamped: boolean,
  lo: number,
  hi: number,
  packed: number,
  launch: (frame: LinearFrame) => void,
): Tensor {
  const n = weight.shape[0]!
  const k = weight.shape[1]!
  const rank = input.shape.length
  const shape = new Array<number>(rank)
  let m = 1
  for (let d = 0; d < rank - 1; d++) m *= shape[d] = input.shape[d]!
  shape[rank - 1] = n
  const result = empty(shape, input.type)
  if (m * n === 0) return result
  const pack = packed === 0 ? packedWeight(weight, PackSide.b, 1, n, k) : packed
  launch({
    dtype: input.type,
    m,
    n,
    k,
    packed: pack === 0 ? 0 : 1,
    clamped: clamped ? 1 : 0,
    x: input.address,
    weight: pack === 0 ? weight.address : pack,
    bias: bias === null ? 0 : bias.address,
    out: result.address,
    lo,
    hi,
  })
  return result
}
