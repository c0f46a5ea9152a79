import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { Limit } from '../../../native/generated/numbers.js'
import { viewAsReal } from '../../../tensor/complex.js'
import { DType, type DType as Type, holdsComplex } from '../../../tensor/dtype.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'
import { noteWrite } from '../../../tensor/observe.js'
import { cloneOf, contiguousOf } from '../../support/copy.js'
import { coalesce } from '../../../shapes/dims.js'

const KERNEL_DIMS = 12

/** One index tensor of a walk: its strides over the walked shape, and the dim of the indexed tensor that it counts in. */
export interface IndexOperand {
  readonly index: Tensor
  readonly strides: readonly number[]
  /** Elements that an index may count up to. */
  readonly limit: number
  /** Elements from one index value to the next. */
  readonly step: number
}

/** A walk over `shape` with two operands that have strides, plus index tensors of one dtype. */
export interface IndexedWalk {
  readonly shape: readonly number[]
  readonly indexed: readonly number[]
  readonly plain: readonly number[]
  readonly indices: readonly IndexOperand[]
}

/** What the frames of both kernels have in common. */
interface Frame {
  readonly ndim: number
  readonly type: Type
  readonly sizes: number[]
  readonly plain: number[]
  readonly indexed: number[]
  readonly index: number[]
  readonly indexStrides: number[]
  readonly limits: number[]
  readonly steps: number[]
}

function frameOf({ shape, plain, indexed, indices }: IndexedWalk): Frame {
  const count = indices.length
  check(count <= Limit.INDEX_TENSORS, () => `expected at most ${Limit.INDEX_TENSORS} index tensors, found ${count}`)
  const operands: (readonly number[])[] = [plain, indexed]
  const index: number[] = []
  const limits: number[] = []
  const steps: number[] = []
  for (let k = 0; k < count; k++) {
    const o = indices[k]!
    check(o.limit > 0, () => 'an index is out of range: the dimension that it counts in is empty')
    operands.push(o.strides)
    index.push(o.index.address)
    limits.push(o.limit)
    steps.push(o.step)
  }
  const { sizes, strides } = coalesce(shape, operands)
  const ndim = sizes.length
  const indexStrides: number[] = []
  for (let k = 0; k < count; k++) {
    for (let d = 0; d < KERNEL_DIMS; d++) indexStrides.push(d < ndim ? strides[k + 2]![d]! : 0)
  }
  const type = count > 0 ? indices[0]!.index.type : DType.int64
  return { ndim, type, sizes, plain: strides[0]!, indexed: strides[1]!, index, indexStrides, limits, steps }
}

/** out[walk] = self[walk + indices]; `plain` strides are those of `out`. Throws for an index out of range. */
export function getIndexed(out: Tensor, self: Tensor, walk: IndexedWalk, wrap: boolean): void {
  if (walk.shape.includes(0)) return
  const frame = frameOf(walk)
  kernels.index_get({
    ndim: frame.ndim,
    item_size: self.itemSize,
    indices: frame.index.length,
    index_dtype: frame.type,
    wrap: wrap ? 1 : 0,
    sizes: frame.sizes,
    out_strides: frame.plain,
    in_strides: frame.indexed,
    index: frame.index,
    index_strides: frame.indexStrides,
    limits: frame.limits,
    steps: frame.steps,
    in: self.address,
    out: out.address,
  })
}

/** The same walk over the pairs of real numbers that complex ones are. */
function pairWalk({ shape, indexed, plain, indices }: IndexedWalk): IndexedWalk {
  const twice = (strides: readonly number[], last: number): number[] => [...strides.map((s) => 2 * s), last]
  return {
    shape: [...shape, 2],
    indexed: twice(indexed, 1),
    plain: twice(plain, 1),
    indices: indices.map((o) => ({ ...o, strides: [...o.strides, 0], step: 2 * o.step })),
  }
}

/** self[walk + indices] = op(self[...], src[walk]); `plain` strides are those of `src`. Throws for an index out of range. */
export function putIndexed(
  op: keyof typeof kernels.PutOp,
  self: Tensor,
  src: Tensor,
  walk: IndexedWalk,
  { wrap = false, alpha = 1 }: { readonly wrap?: boolean; readonly alpha?: number } = {},
): void {
  if (walk.shape.includes(0)) return
  if (op !== 'copy' && holdsComplex(self)) {
    check(op !== 'multiply', () => 'products of complex numbers at indices are not supported')
    putIndexed(op, viewAsReal(self), viewAsReal(src), pairWalk(walk), { wrap, alpha })
    return
  }
  const frame = frameOf(walk)
  kernels.index_put({
    op: kernels.PutOp[op],
    element: self.type,
    ndim: frame.ndim,
    indices: frame.index.length,
    index_dtype: frame.type,
    wrap: wrap ? 1 : 0,
    sizes: frame.sizes,
    self_strides: frame.indexed,
    src_strides: frame.plain,
    index: frame.index,
    index_strides: frame.indexStrides,
    limits: frame.limits,
    steps: frame.steps,
    alpha,
    self: self.address,
    src: src.address,
  })
  noteWrite(self)
}

/** Throws INVALID_DTYPE unless the index tensor has one of these dtypes. */
export function checkIndexType(index: Tensor, operator: string, allowed: readonly Type[] = [DType.int64]): void {
  if (allowed.includes(index.type)) return
  throw new PtliteError(
    'INVALID_DTYPE',
    `${operator}: expected an index of dtype ${allowed.length > 1 ? 'int32 or int64' : 'int64'}, found ${index.dtype}`,
  )
}

/** The rows of `self` along `dim` that the one-dimensional `index` names, in its order. */
export function indexSelect(self: Tensor, dim: number, index: Tensor): Tensor {
  const list = contiguousOf(index)
  const n = list.numel
  if (self.dim === 0) {
    if (n === 0) return cloneOf(self)
    const out = empty([], self.type, self.quant)
    const operand = { index: list, strides: [], limit: 1, step: 0 }
    getIndexed(out, self, { shape: [], indexed: [], plain: [], indices: [operand] }, false)
    return out
  }
  const shape = self.shape.map((size, d) => (d === dim ? n : size))
  const out = empty(shape, self.type, self.quant)
  const operand = {
    index: list,
    strides: shape.map((_, d) => (d === dim ? 1 : 0)),
    limit: self.shape[dim]!,
    step: self.strides[dim]!,
  }
  const indexed = self.strides.map((s, d) => (d === dim ? 0 : s))
  getIndexed(out, self, { shape, indexed, plain: out.strides, indices: [operand] }, false)
  return out
}

/** The walk of gather and scatter: over `index`, with `dim` of `self` replaced by the index values. */
export function alongDim(self: Tensor, dim: number, index: Tensor, plain: readonly number[]): IndexedWalk {
  const operand = { index, strides: index.strides, limit: self.shape[dim] ?? 1, step: self.strides[dim] ?? 0 }
  // a 0-d tensor stands for one dimension of one element
  const own = self.dim < index.dim ? index.shape.map(() => 0) : self.strides
  const indexed = index.shape.map((_, d) => (d === dim ? 0 : own[d]!))
  return { shape: index.shape, indexed, plain, indices: [operand] }
}
