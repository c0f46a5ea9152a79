import { check, PtliteError } from '../../error.js'
import { itemOf } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { strideOrder, stridesAs } from '../../tensor/iterator.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { emptyStrided, type Tensor, viewOf } from '../../tensor/tensor.js'
import { fitting } from './index-fill.js'
import { maskedFillInPlace } from './indexing.js'
import { select } from '../../tensor/view.js'
import { nonzero } from './masked-select.js'
import { castTo } from '../support/copy.js'
import { writeOutExact } from '../support/write-out.js'
import { getIndexed, type IndexedWalk, type IndexOperand, putIndexed } from './support/index-walk.js'
import { expandTo, zerosOf } from '../support/make.js'
import { checkSameType, looseTargetOf } from '../support/target.js'

type Indices = readonly (Tensor | null)[]

/** Sizes and strides of what is indexed. */
interface Extent {
  readonly shape: number[]
  readonly strides: number[]
}

const isMask = (index: Tensor): boolean => index.type === DType.bool || index.type === DType.uint8

/** A mask without dimensions, which covers none of `self`. */
const isTruth = (index: Tensor | null): boolean => index !== null && index.dim === 0 && isMask(index)

/**
 * Masks become one int64 index per dim that they cover; everything else must be int64, or int32 as newer versions of PyTorch take it.
 * `extent` gets a dimension of size 1 for each mask that covers none.
 */
function withoutMasks(extent: Extent, indices: Indices): Indices {
  const rank = extent.shape.length
  check(indices.length <= rank, () => `index: expected at most ${rank} indices, found ${indices.length}`)
  const result = indices.every((t) => t === null || t.type === DType.int64) ? indices : unmasked(extent, indices)
  const most = extent.shape.length
  check(result.length <= most, () => `index: expected at most ${most} indices, found ${result.length}`)
  check(result.some((t) => t !== null), () => 'index: expected at least one index tensor') // prettier-ignore
  return result
}

function unmasked(extent: Extent, indices: Indices): Indices {
  const result: (Tensor | null)[] = []
  // beside other indices they select nothing of their own, and count as true in PyTorch
  const onlyTruths = indices.every((index) => index === null || isTruth(index))
  for (const index of indices) {
    if (index === null) result.push(null)
    else if (index.type === DType.int64 || index.type === DType.int32) result.push(castTo(index, DType.int64))
    else if (!isMask(index)) {
      throw new PtliteError('INVALID_DTYPE', `index: expected indices of dtype int64, int32, bool or uint8, found ${index.dtype}`)
    } else if (index.dim > 0) pushRows(result, index, extent.shape)
    else if (onlyTruths) {
      // a new dimension of which everything or nothing is taken, as NumPy has it
      extent.shape.splice(result.length, 0, 1)
      extent.strides.splice(result.length, 0, 0)
      result.push(zerosOf([nonzero(index).shape[0]!], DType.int64))
    }
  }
  return result
}

/** One index per dimension of a mask, which stands at the next dimensions of `shape`. */
function pushRows(result: (Tensor | null)[], mask: Tensor, shape: readonly number[]): void {
  checkMaskShape(mask, shape, result.length)
  const rows = nonzero(mask)
  mask.shape.forEach((_, d) => result.push(select(rows, 1, d)))
}

function checkMaskShape(mask: Tensor, shape: readonly number[], first: number): void {
  mask.shape.forEach((n, d) => {
    check(
      n === shape[first + d],
      () => `index: a mask of shape [${mask.shape.join(', ')}] does not fit [${shape.join(', ')}] at dimension ${first + d}`,
    )
  })
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
  const extent = { shape: self.shape.slice(), strides: self.strides.slice() }
  const indices = withoutMasks(extent, given)
  const { shape: sizes, strides: steps } = extent
  const free: number[] = []
  let common: readonly number[] = []
  let used = 0
  let first = 0
  let last = 0
  for (let d = 0; d < sizes.length; d++) {
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
    shape.push(sizes[free[i]!]!)
    indexed.push(steps[free[i]!]!)
  }
  const operands: IndexOperand[] = []
  for (let d = 0; d < indices.length; d++) {
    const index = indices[d] ?? null
    if (index === null) continue
    const strides = new Array<number>(shape.length).fill(0)
    const own = stridesAs(index, common)
    for (let i = 0; i < own.length; i++) strides[lead + i] = own[i]!
    operands.push({ index, strides, limit: sizes[d]!, step: steps[d]! })
  }
  const outOfReach = operands.find((o) => o.limit === 0 && o.index.numel > 0)
  check(outOfReach === undefined || shape.includes(0) === false || common.includes(0), () => 'index: the indexed dimension has no elements')
  return { shape, indexed, indices: operands }
}

/** self[indices] with NumPy's rules: index tensors are broadcast together, null keeps a dim, masks select. */
export function index_Tensor(self: Tensor, indices: Indices, out?: Tensor): Tensor {
  const plan = planIndexing(self, indices)
  // in the order of what is indexed, and else of the indices
  const strides = strideOrder(plan.shape, [plan.indexed, ...plan.indices.map((index) => index.strides)])
  const result = emptyStrided(plan.shape, strides, self.type, self.quant)
  getIndexed(result, self, { ...plan, plain: strides }, true)
  return writeOutExact(result, out, 'index')
}

/** The mask that is the only index, as a tensor that broadcasts to `self`: one element is written by it as masked_fill does, and without reading it. */
function onlyMask(self: Tensor, indices: Indices): Tensor | null {
  const first = indices.findIndex((index) => index !== null)
  const mask = indices[first] ?? null
  if (mask === null || !isMask(mask) || indices.length > self.dim) return null
  if (indices.some((index, d) => d !== first && index !== null)) return null
  checkMaskShape(mask, self.shape, first)
  const behind = self.dim - first - mask.dim
  if (behind <= 0) return mask
  return viewOf(mask, [...mask.shape, ...new Array<number>(behind).fill(1)], [...mask.strides, ...new Array<number>(behind).fill(1)])
}

/** self[indices] = values (or += where `accumulate`); values are broadcast to the indexed shape. */
export function index_put(self: Tensor, indices: Indices, values: Tensor, accumulate: boolean, out?: Tensor): Tensor {
  const mask = accumulate || values.numel !== 1 ? null : onlyMask(self, indices)
  if (mask !== null) {
    const value = viewOf(values, [], [])
    const fill = values.type === self.type ? value : fitting(itemOf(value), self.type, 'index_put')
    return maskedFillInPlace(out === self ? self : looseTargetOf(self, out, 'index_put', values, ...indices), mask, fill)
  }
  checkSameType(self, values, 'index_put')
  const target = looseTargetOf(self, out, 'index_put', values, ...indices)
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
