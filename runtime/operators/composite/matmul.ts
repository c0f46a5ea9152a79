import { check } from '../../error.js'
import { isComplex, isFloating } from '../../tensor/dtype.js'
import { broadcastShapes, contiguousStrides, numelOf, wrapDim } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousCopy, contiguousOf } from '../support/copy.js'
import { writeOut, writeOutInRows, writeOutExact } from '../support/write-out.js'
import type { Composite } from '../support/generated/interfaces.js'
import { conj } from './complex-views.js'
import { reshape } from './views.js'
import * as at from '../generated/dispatch.js'

export { einsum } from './einsum.js'

const text = (t: Tensor): string => `[${t.shape.join(', ')}]`

function permuted(t: Tensor, order: readonly number[]): Tensor {
  return viewOf(
    t,
    order.map((d) => t.shape[d]!),
    order.map((d) => t.strides[d]!),
  )
}

/** Row-major data of `t` seen as another shape of as many elements. */
function reshaped(t: Tensor, shape: readonly number[]): Tensor {
  return viewOf(contiguousOf(t), shape, contiguousStrides(shape))
}

/** Product over the last dimension of both, all other dimensions side by side; with a 0-dimensional operand, the product. */
export function inner(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  if (self.dim === 0 || other.dim === 0) return writeOut(at.mul_Tensor(self, other), out)
  const last = self.shape[self.dim - 1]!
  check(
    last === other.shape[other.dim - 1],
    () => `inner: expected the same size in the last dimension, found shapes ${text(self)} and ${text(other)}`,
  )
  return tensordot(self, other, [-1], [-1], out)
}

/** Every element of one vector times every element of the other, promoted as by mul. */
export function outer(self: Tensor, vec2: Tensor, out?: Tensor): Tensor {
  check(self.dim === 1 && vec2.dim === 1, () => `outer: expected vectors, found shapes ${text(self)} and ${text(vec2)}`)
  const column = viewOf(self, [self.shape[0]!, 1], [self.strides[0]!, 0])
  return writeOut(at.mul_Tensor(column, vec2), out)
}

/** Kronecker product: every element of self times all of other. */
export function kron(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  const rank = Math.max(self.dim, other.dim)
  const ones = (t: Tensor): number[] => new Array<number>(rank - t.dim).fill(1)
  const zeros = (t: Tensor): number[] => new Array<number>(rank - t.dim).fill(0)
  const a = [...ones(self), ...self.shape]
  const b = [...ones(other), ...other.shape]
  const as = [...zeros(self), ...self.strides]
  const bs = [...zeros(other), ...other.strides]
  const product = at.mul_Tensor(
    viewOf(
      self,
      a.flatMap((size) => [size, 1]),
      as.flatMap((stride) => [stride, 0]),
    ),
    viewOf(
      other,
      b.flatMap((size) => [1, size]),
      bs.flatMap((stride) => [0, stride]),
    ),
  )
  return writeOutInRows(
    reshape(
      product,
      a.map((size, d) => size * b[d]!),
    ),
    out,
  )
}

/** Product over pairs of dimensions; the remaining ones of self, then those of other. A size of 1 is repeated. */
export function tensordot(self: Tensor, other: Tensor, dimsSelf: readonly number[], dimsOther: readonly number[], out?: Tensor): Tensor {
  check(
    dimsSelf.length === dimsOther.length,
    () => `tensordot: expected as many dimensions of each operand, found ${dimsSelf.length} and ${dimsOther.length}`,
  )
  check(dimsSelf.length === 0 || (self.dim > 0 && other.dim > 0), () => 'tensordot: a 0-d tensor has no dimension to contract')
  const da = dimsSelf.map((d) => wrapDim(d, self.dim))
  const db = dimsOther.map((d) => wrapDim(d, other.dim))
  check(new Set(da).size === da.length && new Set(db).size === db.length, () => 'tensordot: a dimension is given twice')
  const sizes = da.map((d, i) => {
    const x = self.shape[d]!
    const y = other.shape[db[i]!]!
    check(
      x === y || x === 1 || y === 1,
      () => `tensordot: dimension ${d} of shape ${text(self)} does not fit dimension ${db[i]!} of ${text(other)}`,
    )
    return x === 1 ? y : x
  })
  const freeA = self.shape.map((_, d) => d).filter((d) => !da.includes(d))
  const freeB = other.shape.map((_, d) => d).filter((d) => !db.includes(d))
  const repeat = (t: Tensor, dims: number[]): number[] => dims.map((d, i) => (t.shape[d] === 1 && sizes[i] !== 1 ? 0 : t.strides[d]!))
  const shapeA = freeA.map((d) => self.shape[d]!)
  const shapeB = freeB.map((d) => other.shape[d]!)
  const a = viewOf(self, [...shapeA, ...sizes], [...freeA.map((d) => self.strides[d]!), ...repeat(self, da)])
  const b = viewOf(other, [...sizes, ...shapeB], [...repeat(other, db), ...freeB.map((d) => other.strides[d]!)])
  const k = numelOf(sizes)
  const product = at.mm(reshaped(a, [numelOf(shapeA), k]), reshaped(b, [k, numelOf(shapeB)]))
  const shape = [...shapeA, ...shapeB]
  return writeOut(viewOf(product, shape, contiguousStrides(shape)), out)
}

/** Where to split products i..j of a chain so that the fewest multiplications are needed; row-major n x n. */
function bestSplits(sizes: readonly number[]): number[] {
  const n = sizes.length - 1
  const cost = new Array<number>(n * n).fill(0)
  const split = new Array<number>(n * n).fill(0)
  for (let length = 1; length < n; length++) {
    for (let i = 0; i + length < n; i++) {
      const j = i + length
      cost[i * n + j] = Infinity
      for (let s = i; s < j; s++) {
        const c = cost[i * n + s]! + cost[(s + 1) * n + j]! + sizes[i]! * sizes[s + 1]! * sizes[j + 1]!
        if (c < cost[i * n + j]!) {
          cost[i * n + j] = c
          split[i * n + j] = s
        }
      }
    }
  }
  return split
}

function chain(operator: string, matrices: readonly Tensor[]): Tensor {
  for (const [i, m] of matrices.entries()) {
    check(m.dim === 2, () => `${operator}: expected matrices, found shape ${text(m)} at position ${i}`)
  }
  const n = matrices.length
  const split = bestSplits([matrices[0]!.shape[0]!, ...matrices.map((m) => m.shape[1]!)])
  const multiply = (i: number, j: number): Tensor => {
    if (i === j) return matrices[i]!
    const s = split[i * n + j]!
    return at.mm(multiply(i, s), multiply(s + 1, j))
  }
  return multiply(0, n - 1)
}

/** Product of matrices in the cheapest order. */
export function chain_matmul(matrices: Tensor[], out?: Tensor): Tensor {
  check(matrices.length > 0, () => 'chain_matmul: expected one or more matrices')
  return writeOut(chain('chain_matmul', matrices), out)
}

/** chain_matmul of two or more, where the first may be a row vector and the last a column vector. */
export function linalg_multi_dot(tensors: Tensor[], out?: Tensor): Tensor {
  const n = tensors.length
  check(n >= 2, () => `linalg_multi_dot: expected two or more tensors, found ${n}`)
  const first = tensors[0]!
  const last = tensors[n - 1]!
  const matrices = tensors.slice()
  if (first.dim === 1) matrices[0] = viewOf(first, [1, first.shape[0]!], [0, first.strides[0]!])
  if (last.dim === 1) matrices[n - 1] = viewOf(last, [last.shape[0]!, 1], [last.strides[0]!, 0])
  const product = chain('linalg_multi_dot', matrices)
  const shape = product.shape.slice(first.dim === 1 ? 1 : 0, last.dim === 1 ? 1 : 2)
  return writeOut(viewOf(product, shape, contiguousStrides(shape)), out)
}

/** out[..., o] = sum over i, j of input1[..., i] weight[o, i, j] input2[..., j], plus bias[o]. */
export function bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  check(
    input1.dim > 0 && input1.dim === input2.dim,
    () => `bilinear: expected inputs of the same dimensions, found shapes ${text(input1)} and ${text(input2)}`,
  )
  const lead = input1.shape.slice(0, -1)
  check(
    lead.every((size, d) => size === input2.shape[d]),
    () => `bilinear: expected inputs that differ in the last dimension only, found shapes ${text(input1)} and ${text(input2)}`,
  )
  const d1 = input1.shape[input1.dim - 1]!
  const d2 = input2.shape[input2.dim - 1]!
  check(
    weight.dim === 3 && weight.shape[1] === d1 && weight.shape[2] === d2,
    () => `bilinear: expected a weight of shape [out, ${d1}, ${d2}], found ${text(weight)}`,
  )
  const outputs = weight.shape[0]!
  check(
    bias === null || (bias.dim === 1 && bias.shape[0] === outputs),
    () => `bilinear: expected a bias of shape [${outputs}], found ${bias === null ? '' : text(bias)}`,
  )
  const n = numelOf(lead)
  const columns = reshaped(permuted(weight, [1, 0, 2]), [d1, outputs * d2])
  const half = at.mm(reshaped(input1, [n, d1]), columns)
  const result = at.bmm(viewOf(half, [n, outputs, d2], [outputs * d2, d2, 1]), reshaped(input2, [n, d2, 1]))
  const shape = [...lead, outputs]
  const product = viewOf(result, shape, contiguousStrides(shape))
  return bias === null ? product : at.add_Tensor(product, bias, 1)
}

/** addmm with ReLU, or GELU, after it. */
export const _addmm_activation: Composite['_addmm_activation'] = (self, mat1, mat2, beta, alpha, useGelu, out) => {
  const sum = at.addmm(self, mat1, mat2, beta, alpha)
  return writeOutExact(useGelu ? at.gelu(sum, 'none') : at.relu(sum), out, '_addmm_activation')
}

/** Sums of products of vectors along `dim`, conjugates of the first where they are complex. */
export function linalg_vecdot(x: Tensor, y: Tensor, dim: number, out?: Tensor): Tensor {
  check(
    (isFloating(x.type) || isComplex(x.type)) && x.type === y.type,
    () => `linalg_vecdot: expected floating-point or complex tensors of the same dtype, found ${x.dtype} and ${y.dtype}`,
  )
  const shape = broadcastShapes(x.shape, y.shape)
  const over = wrapDim(dim, shape.length)
  return writeOut(at.sum_dim_IntList(at.mul_Tensor(conj(x), y), [over], false, null), out)
}

/** Square matrices times themselves n times; the identity for 0, powers of the inverse below. */
export function linalg_matrix_power(self: Tensor, n: number, out?: Tensor): Tensor {
  check(
    self.dim >= 2 && self.shape[self.dim - 1] === self.shape[self.dim - 2],
    () => `linalg_matrix_power: expected square matrices, found shape ${text(self)}`,
  )
  if (n === 0) {
    const size = self.shape[self.dim - 1]!
    const one = contiguousCopy(self)
    at.fill__Scalar(one, 0)
    const diagonal = viewOf(one, [...one.shape.slice(0, -2), size], [...one.strides.slice(0, -2), size + 1])
    at.fill__Scalar(diagonal, 1)
    return writeOut(one, out)
  }
  let base = n < 0 ? at.linalg_inv(self) : self
  let result: Tensor | null = null
  for (let left = Math.abs(n); left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = result === null ? base : at.matmul(result, base)
    if (left > 1) base = at.matmul(base, base)
  }
  return writeOut(result === self ? contiguousCopy(self) : result!, out)
}
