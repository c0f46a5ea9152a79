import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { notComplex } from '../../tensor/promote.js'
import { type AnyScalar, Complex, Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { contiguousOf, copyInto } from '../support/copy.js'
import { alongDim, checkIndexType, type IndexedWalk, putIndexed } from './support/index-walk.js'
import { anyScalarTensor } from '../support/fill.js'
import { scalarTensor, zerosOf } from '../support/make.js'
import { mul_out } from './binary.js'
import { checkSameType, targetOf } from '../support/target.js'
import type { CPU } from '../support/generated/interfaces.js'

type Put = 'copy' | 'add' | 'multiply'

function checkShapes(operator: string, self: Tensor, dim: number, index: Tensor, src: Tensor | null): void {
  if (index.numel === 0) return
  checkIndexType(index, operator, [DType.int32, DType.int64])
  const rank = Math.max(self.dim, 1)
  check(Math.max(index.dim, 1) === rank, () => `${operator}: expected an index of ${rank} dimensions, found ${index.dim}`)
  check(src === null || Math.max(src.dim, 1) === rank, () => `${operator}: expected a source of ${rank} dimensions, found ${src!.dim}`)
  check(src === null || src.numel > 0, () => `${operator}: expected a source with elements, found [${src!.shape.join(', ')}]`)
  for (let d = 0; d < index.dim; d++) {
    const size = index.shape[d]!
    check(self.dim === 0 || d === dim || size <= self.shape[d]!, () =>
      `${operator}: index [${index.shape.join(', ')}] must not exceed self [${self.shape.join(', ')}] apart from dimension ${dim}`,
    ) // prettier-ignore
    check(src === null || src.dim === 0 || size <= src.shape[d]!, () =>
      `${operator}: index [${index.shape.join(', ')}] must not exceed the source [${src!.shape.join(', ')}]`,
    ) // prettier-ignore
  }
}

/** Strides with which `src` is read under the index; a 0-d one stands for one element. */
function sourceStrides(src: Tensor, index: Tensor): readonly number[] {
  return src.dim < index.dim ? index.shape.map(() => 0) : src.strides
}

function scatterTensor(op: Put, operator: string, self: Tensor, dim: number, index: Tensor, src: Tensor, out?: Tensor): Tensor {
  const along = wrapDim(dim, self.dim)
  checkSameType(self, src, operator)
  checkShapes(operator, self, along, index, src)
  const target = targetOf(self, out, operator, index, src)
  if (index.numel > 0) putIndexed(op, target, src, alongDim(target, along, index, sourceStrides(src, index)))
  return target
}

function scatterScalar(op: Put, operator: string, self: Tensor, dim: number, index: Tensor, value: AnyScalar, out?: Tensor): Tensor {
  const along = wrapDim(dim, self.dim)
  checkShapes(operator, self, along, index, null)
  const target = targetOf(self, out, operator, index)
  const nowhere = index.shape.map(() => 0)
  if (index.numel > 0) putIndexed(op, target, anyScalarTensor(value, self.type), alongDim(target, along, index, nowhere))
  return target
}

function putOf(reduce: string): Put {
  check(reduce === 'add' || reduce === 'multiply', () => `scatter: expected reduce 'add' or 'multiply', found '${reduce}'`)
  return reduce as Put
}

/** torch.scatter: self[.., index[.., i, ..], ..] = src[.., i, ..] along `dim`, the last write of several wins. */
export function scatter_src(self: Tensor, dim: number, index: Tensor, src: Tensor, out?: Tensor): Tensor {
  return scatterTensor('copy', 'scatter', self, dim, index, src, out)
}

export function scatter_value(self: Tensor, dim: number, index: Tensor, value: AnyScalar, out?: Tensor): Tensor {
  return scatterScalar('copy', 'scatter', self, dim, index, value, out)
}

export function scatter_reduce_src(self: Tensor, dim: number, index: Tensor, src: Tensor, reduce: string, out?: Tensor): Tensor {
  return scatterTensor(putOf(reduce), 'scatter', self, dim, index, src, out)
}

export function scatter_value_reduce(self: Tensor, dim: number, index: Tensor, value: AnyScalar, reduce: string, out?: Tensor): Tensor {
  return scatterScalar(putOf(reduce), 'scatter', self, dim, index, value, out)
}

/** torch.scatter_add: adds instead of writing. */
export function scatter_add(self: Tensor, dim: number, index: Tensor, src: Tensor, out?: Tensor): Tensor {
  return scatterTensor('add', 'scatter_add', self, dim, index, src, out)
}

const REDUCTIONS = { sum: 'add', prod: 'multiply', mean: 'add', amax: 'max', amin: 'min' } as const
type Reduction = keyof typeof REDUCTIONS

/** What a fold starts from where the old contents do not count. */
function identityOf(reduction: Reduction, type: DType): Scalar {
  if (reduction === 'sum' || reduction === 'mean') return 0
  if (reduction === 'prod') return 1
  const low = reduction === 'amax'
  if (isFloating(type)) return new Float(low ? -Infinity : Infinity)
  if (type === DType.bool) return low ? 0 : 1
  if (type === DType.uint8) return low ? 0 : 255
  const bits = { [DType.int8]: 7n, [DType.int16]: 15n, [DType.int32]: 31n }[type as number] ?? 63n
  return low ? -(2n ** bits) : 2n ** bits - 1n
}

/** Folds `src` into the target over a walk, then divides means by their counts. */
function foldInto(
  target: Tensor,
  src: Tensor,
  walk: IndexedWalk,
  counts: IndexedWalk,
  tally: Tensor,
  reduction: Reduction,
  includeSelf: boolean,
): void {
  const nowhere = walk.shape.map(() => 0)
  if (!includeSelf) putIndexed('copy', target, scalarTensor(identityOf(reduction, target.type), target.type), { ...walk, plain: nowhere })
  putIndexed(REDUCTIONS[reduction], target, src, walk)
  if (reduction !== 'mean') return
  if (includeSelf) copyInto(tally, scalarTensor(1, DType.int64))
  putIndexed('add', tally, scalarTensor(1, DType.int64), { ...counts, plain: nowhere })
  const dense = contiguousOf(target)
  kernels.divide_counts({ dtype: target.type, count: dense.numel, self: dense.address, counts: tally.address })
  if (dense !== target) copyInto(target, dense)
}

function reductionOf(reduce: string, operator: string): Reduction {
  check(Object.hasOwn(REDUCTIONS, reduce), () => `${operator}: expected reduce ${Object.keys(REDUCTIONS).join(', ')}, found '${reduce}'`)
  return reduce as Reduction
}

/** torch.scatter_reduce: folds by sum, prod, mean, amax or amin; `includeSelf` counts what was there. */
export const scatter_reduce_two: CPU['scatter_reduce_two'] = (self, dim, index, src, reduce, includeSelf, out) => {
  const reduction = reductionOf(reduce, 'scatter_reduce')
  const along = wrapDim(dim, self.dim)
  checkSameType(self, src, 'scatter_reduce')
  checkShapes('scatter_reduce', self, along, index, src)
  const target = targetOf(self, out, 'scatter_reduce', index, src)
  if (index.numel === 0) return target
  if (reduction === 'mean' && self.type === DType.bool) throw new PtliteError('INVALID_DTYPE', 'scatter_reduce: bool tensors have no mean')
  const plain = sourceStrides(src, index)
  const tally = zerosOf(target.shape, DType.int64)
  foldInto(target, src, alongDim(target, along, index, plain), alongDim(tally, along, index, plain), tally, reduction, includeSelf)
  return target
}

/** The walk over slices of `source` along `dim`, which `index` places in `self`. */
function sliceWalk(self: Tensor, dim: number, index: Tensor, source: Tensor): IndexedWalk {
  const shape = source.dim === 0 ? [1] : source.shape
  const plain = source.dim === 0 ? [0] : source.strides
  const own = self.dim === 0 ? [0] : self.strides
  const operand = {
    index,
    strides: shape.map((_, d) => (d === dim ? (index.dim === 0 ? 0 : index.strides[0]!) : 0)),
    limit: self.shape[dim] ?? 1,
    step: self.strides[dim] ?? 0,
  }
  return { shape, indexed: shape.map((_, d) => (d === dim ? 0 : own[d]!)), plain, indices: [operand] }
}

function checkSlices(operator: string, self: Tensor, dim: number, index: Tensor, source: Tensor): void {
  check(index.dim <= 1, () => `${operator}: expected an index of at most one dimension, found ${index.dim}`)
  checkSameType(self, source, operator)
  const count = source.dim === 0 ? 1 : source.shape[dim]
  check(count === index.numel, () => `${operator}: expected ${count ?? 0} indices, one per slice of the source, found ${index.numel}`)
  const rank = (t: Tensor): number => Math.max(t.dim, 1)
  const agree = rank(self) === rank(source) && source.shape.every((n, d) => d === dim || n === self.shape[d])
  check(agree && (source.dim > 0 || self.shape.every((n, d) => d === dim || n === 1)), () =>
    `${operator}: slices of the source [${source.shape.join(', ')}] along ${dim} do not fit [${self.shape.join(', ')}]`,
  ) // prettier-ignore
}

/** torch.index_add: adds alpha * source slices to the slices that `index` names. */
export function index_add(self: Tensor, dim: number, index: Tensor, given: Tensor, factor: AnyScalar, out?: Tensor): Tensor {
  const [source, alpha] = factor instanceof Complex ? [mul_out(given, factor), 1] : [given, notComplex(factor)]
  const along = wrapDim(dim, self.dim)
  checkIndexType(index, 'index_add', [DType.int32, DType.int64])
  checkSlices('index_add', self, along, index, source)
  const target = targetOf(self, out, 'index_add', index, source)
  const scale = scalarToNumber(alpha)
  putIndexed(scale === 1 ? 'add' : 'add_scaled', target, source, sliceWalk(target, along, index, source), { alpha: scale })
  return target
}

/** torch.index_copy: writes source slices over the slices that `index` names. */
export function index_copy(self: Tensor, dim: number, index: Tensor, source: Tensor, out?: Tensor): Tensor {
  const along = wrapDim(dim, self.dim)
  checkIndexType(index, 'index_copy')
  checkSlices('index_copy', self, along, index, source)
  const target = targetOf(self, out, 'index_copy', index, source)
  putIndexed('copy', target, source, sliceWalk(target, along, index, source))
  return target
}

/** torch.index_reduce: as index_add, with prod, mean, amax or amin. */
export const index_reduce: CPU['index_reduce'] = (self, dim, index, source, reduce, includeSelf, out) => {
  const reduction = reductionOf(reduce, 'index_reduce')
  check(reduction !== 'sum', () => "index_reduce: expected reduce prod, mean, amax or amin, found 'sum'")
  const along = wrapDim(dim, self.dim)
  checkIndexType(index, 'index_reduce', [DType.int32, DType.int64])
  checkSlices('index_reduce', self, along, index, source)
  const target = targetOf(self, out, 'index_reduce', index, source)
  const tally = zerosOf(target.shape, DType.int64)
  foldInto(target, source, sliceWalk(target, along, index, source), sliceWalk(tally, along, index, source), tally, reduction, includeSelf)
  return target
}
