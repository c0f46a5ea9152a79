import { check, PtliteError } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { stridesAs } from '../../tensor/iterator.js'
import { broadcastShapes, contiguousStrides } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { nonzero } from './masked-select.js'
import { castTo } from '../support/copy.js'
import { deliverExact } from '../support/deliver.js'
import { getIndexed, type IndexedWalk, type IndexOperand, putIndexed } from './support/index-walk.js'
import { expandTo } from '../support/make.js'
import { checkSameType, targetOf } from '../support/target.js'

type Indices = readonly (Tensor | null)[]

/** Masks become one int64 index per dim that they cover; everything else must be int64, or int32 as newer versions of PyTorch take it. */
function withoutMasks(self: Tensor, indices: Indices): Indices {
  const result = indices.every((t) => t === null || t.type === DType.int64) ? indices : unmasked(self, indices)
  check(result.length <= self.dim, () => `index: expected at most ${self.dim} indices, found ${result.length}`)
  check(result.some((t) => t !== null), () => 'index: expected at least one index tensor') // prettier-ignore
  return result
}

function unmasked(self: Tensor, indices: Indices): Indices {
  const result: (Tensor | null)[] = []
  for (const index of indices) {
    if (index === null) result.push(null)
    else if (index.type === DType.int64 || index.type === DType.int32) result.push(castTo(index, DType.int64))
    else if (index.type !== DType.bool && index.type !== DType.uint8) {
      throw new PtliteError('INVALID_DTYPE', `index: expected indices of dtype int64, int32, bool or uint8, found ${index.dtype}`)
    } else if (index.dim === 0) result.push(castTo(index, DType.int64))
    else {
      index.shape.forEach((n, d) => {
        const at = result.length + d
        check(
          n === self.shape[at],
          () => `index: a mask of shape [${index.shape.join(', ')}] does not fit [${self.shape.join(', ')}] at dimension ${at}`,
        )
      })
      const rows = nonzero(index)
      index.shape.forEach((_, d) => result.push(viewOf(rows, [rows.shape[0]!], [index.dim], rows.offset + d)))
    }
  }
  return result
}

interface Plan {
  readonly shape: number[]
  /** Strides of `self` over `shape`, 0 where the indices decide. */
  readonly indexed: number[]
  readonly indices: IndexOperand[]
}

/**
 * The result of indexing: broadcast index dims stand where the first index stood if all indices are neighbours,
 * else in front; dims without an index keep their order.
 */
function planIndexing(self: Tensor, given: Indices): Plan {
  const indices = withoutMasks(self, given)
  const free: number[] = []
  let common: readonly number[] = []
  let used = 0
  let first = 0
  let last = 0
  for (let d = 0; d < self.dim; d++) {
    const index = d < indices.length ? indices[d]! : null
    if (index === null) {
      free.push(d)
      continue
    }
    if (used === 0) first = d
    common = used === 0 ? index.shape : broadcastShapes(common, index.shape)
    last = d
    used++
  }
  const neighbours = last - first === used - 1
  const lead = neighbours ? first : 0
  const shape: number[] = []
  const indexed: number[] = []
  for (let i = 0; i <= free.length; i++) {
    if (i === lead) {
      for (const n of common) {
        shape.push(n)
        indexed.push(0)
      }
    }
    if (i === free.length) break
    shape.push(self.shape[free[i]!]!)
    indexed.push(self.strides[free[i]!]!)
  }
  const operands: IndexOperand[] = []
  for (let d = 0; d < indices.length; d++) {
    const index = indices[d] ?? null
    if (index === null) continue
    const strides = new Array<number>(shape.length).fill(0)
    const own = stridesAs(index, common)
    for (let i = 0; i < own.length; i++) strides[lead + i] = own[i]!
    operands.push({ index, strides, limit: self.shape[d]!, step: self.strides[d]! })
  }
  const outOfReach = operands.find((o) => o.limit === 0 && o.index.numel > 0)
  check(outOfReach === undefined || shape.includes(0) === false || common.includes(0), () => 'index: the indexed dimension has no elements')
  return { shape, indexed, indices: operands }
}

/** self[indices] with NumPy's rules: index tensors are broadcast together, null keeps a dim, masks select. */
export function index_Tensor(self: Tensor, indices: Indices, out?: Tensor): Tensor {
  const plan = planIndexing(self, indices)
  const result = empty(plan.shape, self.type, self.quant)
  getIndexed(result, self, { ...plan, plain: contiguousStrides(plan.shape) }, true)
  return deliverExact(result, out, 'index')
}

/** self[indices] = values (or += where `accumulate`); values are broadcast to the indexed shape. */
export function index_put(self: Tensor, indices: Indices, values: Tensor, accumulate: boolean, out?: Tensor): Tensor {
  checkSameType(self, values, 'index_put')
  const target = targetOf(self, out, 'index_put', values, ...indices)
  const plan = planIndexing(target, indices)
  check(
    values.dim <= plan.shape.length,
    () => `index_put: values [${values.shape.join(', ')}] cannot be broadcast to [${plan.shape.join(', ')}]`,
  )
  const spread = expandTo(values, plan.shape)
  const walk: IndexedWalk = { ...plan, plain: spread.strides }
  putIndexed(accumulate ? 'add' : 'copy', target, spread, walk, { wrap: true })
  return target
}

export function _index_put_impl_(self: Tensor, indices: Indices, values: Tensor, accumulate: boolean, _unsafe: boolean): Tensor {
  return index_put(self, indices, values, accumulate, self)
}

/** index_put_ as TorchScript calls it where no index is None. */
export function index_put_hacked_(self: Tensor, indices: Tensor[], values: Tensor, accumulate: boolean): Tensor {
  return index_put(self, indices, values, accumulate, self)
}
