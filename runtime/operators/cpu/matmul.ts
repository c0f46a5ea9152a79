import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { broadcastShapes, contiguousStrides, numelOf, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { halfLinear } from '../support/half-weight.js'
import { PackSide, packedWeight } from '../support/packed-weight.js'
import type { PostFields } from '../../shapes/post-ops.js'
import { roundedLinear, roundedWeight } from '../support/rounded-weight.js'
import { asColumn, checkInner, scaledMatmul, shapeText } from '../support/matmul.js'
import { isSparse } from '../../tensor/sparse.js'
import { sparseLinear, sparseMatmul, sparseProduct } from './sparse-matmul.js'
import { checkSameType, product } from '../support/product.js'

export function checkRank(operator: string, name: string, t: Tensor, rank: number): void {
  check(t.dim === rank, () => `${operator}: expected ${name} with ${rank} dimensions, found shape ${shapeText(t)}`)
}

/** [m, k] x [k, n]. */
export function mm(self: Tensor, mat2: Tensor, out?: Tensor): Tensor {
  if (self.isSparse || mat2.isSparse) return writeOut(sparseProduct('mm', self, mat2), out)
  checkRank('mm', 'self', self, 2)
  checkRank('mm', 'mat2', mat2, 2)
  checkInner('mm', self, mat2, self.shape[1] === mat2.shape[0])
  checkSameType('mm', self, mat2)
  return product('mm', [self.shape[0]!, mat2.shape[1]!], self, mat2, 1, null, out)
}

export function checkBatches(operator: string, a: Tensor, b: Tensor): void {
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

/** Product of tensors of 1 or more dimensions: the last two are matrices, those before are broadcast. */
export function matmul(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  if (self.isSparse || other.isSparse) return writeOut(sparseMatmul('matmul', self, other), out)
  return scaledMatmul(self, other, 1, out)
}

/** Whether `clampedLinear` takes the tensors: float tensors of one dtype, and a contiguous weight. */
export function takesLinear(input: Tensor, weight: Tensor, bias: Tensor | null): boolean {
  const { type, shape } = input
  return (
    (type === DType.float32 || type === DType.float64) &&
    weight.type === type &&
    weight.shape.length === 2 &&
    weight.isContiguous &&
    !weight.isSparse &&
    shape.length > 0 &&
    shape[shape.length - 1] === weight.shape[1] &&
    (bias === null || (bias.type === type && bias.shape.length === 1 && bias.shape[0] === weight.shape[0] && bias.isContiguous))
  )
}

/** x weight^T + bias over the last dimension: one kernel call in the usual case. */
export function linear(input: Tensor, weight: Tensor, bias: Tensor | null, out?: Tensor): Tensor {
  if (out === undefined && takesLinear(input, weight, bias)) return clampedLinear(input, weight, bias, false, 0, 0)
  if (isSparse(weight)) return writeOut(sparseLinear(input, weight, bias), out)
  const half = halfLinear(input, weight, bias)
  if (half !== null) return writeOut(half, out)
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
  return writeOut(
    viewOf(product('linear', [m, n], matrix, b, 1, { source: viewOf(added, [m, n], [n, 1]), beta: 1 }), shape, contiguousStrides(shape)),
    out,
  )
}

export const transposed = (t: Tensor): Tensor => (t.dim === 1 ? t : viewOf(t, [t.shape[1]!, t.shape[0]!], [t.strides[1]!, t.strides[0]!]))

function broadcastTo(t: Tensor, shape: readonly number[]): Tensor {
  const lead = shape.length - t.dim
  return viewOf(
    t,
    shape,
    shape.map((size, d) => (d < lead || (t.shape[d - lead] === 1 && size !== 1) ? 0 : t.strides[d - lead]!)),
  )
}

/** Float input [..., k] and contiguous weight [n, k] of one dtype; bias [n]. The result is clamped to [lo, hi] where asked. */
export function clampedLinear(
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  clamped: boolean,
  lo: number,
  hi: number,
  packed = 0,
  post: PostFields | null = null,
): Tensor {
  const rounded = roundedWeight(weight)
  if (rounded !== null) return roundedLinear(input, rounded, bias, clamped ? { lo, hi } : null, post)
  const n = weight.shape[0]!
  const k = weight.shape[1]!
  const rank = input.shape.length
  const shape = new Array<number>(rank)
  let m = 1
  for (let d = 0; d < rank - 1; d++) m *= shape[d] = input.shape[d]!
  shape[rank - 1] = n
  const result = empty(shape, input.type)
  if (m * n === 0) return result
  const x = contiguousOf(input)
  const pack = packed === 0 ? packedWeight(weight, PackSide.b, 1, n, k) : packed
  const frame = {
    dtype: input.type,
    m,
    n,
    k,
    packed: pack === 0 ? 0 : 1,
    clamped: clamped ? 1 : 0,
    x: x.address,
    weight: pack === 0 ? weight.address : pack,
    bias: bias === null ? 0 : bias.address,
    out: result.address,
    lo,
    hi,
  }
  kernels.linear(frame, post)
  return result
}
