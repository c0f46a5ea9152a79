import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating, isIntegral, promoteTypes } from '../../tensor/dtype.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { itemOf } from '../../tensor/data.js'
import { sameShape, wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { deliver, deliverExact } from '../support/deliver.js'
import { filled, flattened, zerosOf } from '../support/make.js'
import { checkNotEmpty, reduce } from '../support/reduce.js'
import { selectLines, sortLines } from './support/select.js'

function numeric(self: Tensor, operator: string): void {
  if (self.type === DType.bool) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a numeric dtype, found bool`)
}

/** torch.sort with positions, NaN as the largest. Unless `stable`, equal elements come in any order. */
export function sort_stable(
  self: Tensor,
  stable: boolean | null,
  dim: number,
  descending: boolean,
  outValues?: Tensor,
  outIndices?: Tensor,
): [Tensor, Tensor] {
  const { values, indices } = sortLines(self, wrapDim(dim, self.dim), { descending, withValues: true, stable: stable ?? false })
  return [deliverExact(values!, outValues, 'sort'), deliverExact(indices, outIndices, 'sort')]
}

export function sort(self: Tensor, dim: number, descending: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return sort_stable(self, false, dim, descending, outValues, outIndices)
}

/** torch.argsort: the positions alone. */
export function argsort_stable(self: Tensor, stable: boolean, dim: number, descending: boolean): Tensor {
  return sortLines(self, wrapDim(dim, self.dim), { descending, stable }).indices
}

export function argsort(self: Tensor, dim: number, descending: boolean): Tensor {
  return argsort_stable(self, false, dim, descending)
}

/** torch.msort: sorted along the first dim. */
export function msort(self: Tensor): Tensor {
  return sortLines(self, 0, { withValues: true }).values!
}

/** torch.topk: the k largest or smallest elements along `dim`, in order where `sorted`. */
export function topk(
  self: Tensor,
  k: number,
  dim: number,
  largest: boolean,
  sorted: boolean,
  outValues?: Tensor,
  outIndices?: Tensor,
): [Tensor, Tensor] {
  numeric(self, 'topk')
  const along = wrapDim(dim, self.dim)
  const length = self.dim === 0 ? 1 : self.shape[along]!
  check(k >= 0 && k <= length, () => `topk: expected k from 0 to ${length}, found ${k}`)
  const op = largest ? 'topk_largest' : 'topk_smallest'
  const [values, indices] = selectLines(op, self, along, { k: self.dim === 0 ? 1 : k, results: k, keepdim: true, sorted })
  return [deliverExact(values, outValues, 'topk'), deliverExact(indices, outIndices, 'topk')]
}

/** torch.kthvalue: the k-th smallest element along `dim`, k counted from 1. */
export function kthvalue(
  self: Tensor,
  k: number,
  dim: number,
  keepdim: boolean,
  outValues?: Tensor,
  outIndices?: Tensor,
): [Tensor, Tensor] {
  numeric(self, 'kthvalue')
  const along = wrapDim(dim, self.dim)
  checkNotEmpty(self, [along], 'kthvalue')
  const length = self.dim === 0 ? 1 : self.shape[along]!
  check(k >= 1 && k <= length, () => `kthvalue: expected k from 1 to ${length}, found ${k}`)
  const [values, indices] = selectLines('kth', self, along, { k, keepdim })
  return [deliverExact(values, outValues, 'kthvalue'), deliverExact(indices, outIndices, 'kthvalue')]
}

type MedianOp = 'median' | 'nanmedian'

function medianAlong(op: MedianOp, self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  numeric(self, op)
  const along = wrapDim(dim, self.dim)
  checkNotEmpty(self, [along], op)
  const [values, indices] = selectLines(op, self, along, { keepdim })
  return [deliverExact(values, outValues, op), deliverExact(indices, outIndices, op)]
}

function medianOfAll(op: MedianOp, self: Tensor): Tensor {
  numeric(self, op)
  if (self.numel === 0) return filled([], self.type, isFloating(self.type) ? new Float(NaN) : lowestInteger(self.type))
  return selectLines(op, flattened(self), 0, {})[0]
}

/** What PyTorch's NaN becomes when it is cast to an integer dtype. */
function lowestInteger(type: DType): Scalar {
  if (type === DType.int64) return -(2n ** 63n)
  return type === DType.int32 ? -(2 ** 31) : 0
}

/** torch.median: the lower median; NaN where there is one. */
export function median(self: Tensor): Tensor {
  return medianOfAll('median', self)
}

export function median_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return medianAlong('median', self, dim, keepdim, outValues, outIndices)
}

/** torch.nanmedian: the lower median of what is not NaN. */
export function nanmedian(self: Tensor): Tensor {
  return medianOfAll('nanmedian', self)
}

export function nanmedian_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return medianAlong('nanmedian', self, dim, keepdim, outValues, outIndices)
}

/** torch.mode: the smallest of the most frequent elements along `dim`. */
export function mode(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  const along = wrapDim(dim, self.dim)
  checkNotEmpty(self, [along], 'mode')
  const [values, indices] = selectLines('mode', self, along, { keepdim })
  return [deliverExact(values, outValues, 'mode'), deliverExact(indices, outIndices, 'mode')]
}

function searchSorted(boundaries: Tensor, values: Tensor, int32: boolean, right: boolean, sorter: Tensor | null): Tensor {
  const type = promoteTypes(boundaries.type, values.type)
  numeric(boundaries, 'searchsorted')
  const edges = contiguousOf(castTo(boundaries, type))
  const found = contiguousOf(castTo(values, type))
  const order = sorter === null ? null : contiguousOf(sorter)
  const out = empty([...values.shape], int32 ? DType.int32 : DType.int64)
  const length = edges.shape[edges.dim - 1]!
  if (out.numel === 0) return out
  const rows = edges.dim === 1 ? 1 : edges.numel / Math.max(length, 1)
  kernels.search_sorted({
    dtype: type,
    out_dtype: out.type,
    right: right ? 1 : 0,
    rows,
    row_length: length,
    values_per_row: found.numel / rows,
    boundaries_step: length,
    boundaries: edges.address,
    sorter: order === null ? 0 : order.address,
    values: found.address,
    out: out.address,
  })
  return out
}

/** torch.searchsorted: where each value would go in its row of ascending boundaries (or boundaries[sorter]). */
export function searchsorted_Tensor(
  sortedSequence: Tensor,
  self: Tensor,
  outInt32: boolean,
  right: boolean,
  side: string | null,
  sorter: Tensor | null,
  out?: Tensor,
): Tensor {
  check(side === null || side === 'left' || side === 'right', () => `searchsorted: expected side 'left' or 'right', found '${side}'`)
  check(!(side === 'left' && right), () => "searchsorted: side 'left' contradicts right=True")
  const rows = sortedSequence.shape.slice(0, -1)
  check(sortedSequence.dim > 0, () => 'searchsorted: expected boundaries with at least one dimension')
  check(sortedSequence.dim === 1 || (self.dim === sortedSequence.dim && sameShape(rows, self.shape.slice(0, -1))), () =>
    `searchsorted: boundaries [${sortedSequence.shape.join(', ')}] and values [${self.shape.join(', ')}] must agree in all dimensions but the last`,
  ) // prettier-ignore
  if (sorter !== null) {
    check(sorter.type === DType.int64 && sameShape(sorter.shape, sortedSequence.shape), () =>
      `searchsorted: expected an int64 sorter of shape [${sortedSequence.shape.join(', ')}], found ${sorter.dtype}[${sorter.shape.join(', ')}]`,
    ) // prettier-ignore
  }
  return deliverExact(searchSorted(sortedSequence, self, outInt32, right || side === 'right', sorter), out, 'searchsorted')
}

/** A 0-d tensor of a scalar, of a dtype that compares well with `other`. */
function scalarBeside(value: Scalar, other: Tensor): Tensor {
  const fraction = value instanceof Float && isIntegral(other.type, true)
  return filled([], fraction ? DType.float32 : other.type === DType.bool && typeof value !== 'boolean' ? DType.int64 : other.type, value)
}

export function searchsorted_Scalar(
  sortedSequence: Tensor,
  self: Scalar,
  outInt32: boolean,
  right: boolean,
  side: string | null,
  sorter: Tensor | null,
): Tensor {
  check(sortedSequence.dim === 1, () => `searchsorted: expected one row of boundaries for a number, found ${sortedSequence.dim} dimensions`)
  return searchsorted_Tensor(sortedSequence, scalarBeside(self, sortedSequence), outInt32, right, side, sorter)
}

/** torch.bucketize: searchsorted with one row of boundaries. */
export function bucketize_Tensor(self: Tensor, boundaries: Tensor, outInt32: boolean, right: boolean, out?: Tensor): Tensor {
  check(boundaries.dim === 1, () => `bucketize: expected boundaries of one dimension, found ${boundaries.dim}`)
  return deliverExact(searchSorted(boundaries, self, outInt32, right, null), out, 'bucketize')
}

export function bucketize_Scalar(self: Scalar, boundaries: Tensor, outInt32: boolean, right: boolean): Tensor {
  return bucketize_Tensor(scalarBeside(self, boundaries), boundaries, outInt32, right)
}

/** torch.isin: which elements occur among the test elements. */
export function isin_Tensor_Tensor(elements: Tensor, testElements: Tensor, _assumeUnique: boolean, invert: boolean, out?: Tensor): Tensor {
  numeric(elements, 'isin')
  numeric(testElements, 'isin')
  const type = promoteTypes(elements.type, testElements.type)
  const a = contiguousOf(castTo(elements, type))
  const b = contiguousOf(castTo(testElements, type))
  const result = empty([...elements.shape], DType.bool)
  kernels.is_in({
    dtype: type,
    invert: invert ? 1 : 0,
    count: a.numel,
    test_count: b.numel,
    elements: a.address,
    tests: b.address,
    out: result.address,
  })
  return deliver(result, out)
}

export function isin_Tensor_Scalar(elements: Tensor, testElement: Scalar, assumeUnique: boolean, invert: boolean, out?: Tensor): Tensor {
  return isin_Tensor_Tensor(elements, scalarBeside(testElement, elements), assumeUnique, invert, out)
}

export function isin_Scalar_Tensor(element: Scalar, testElements: Tensor, assumeUnique: boolean, invert: boolean, out?: Tensor): Tensor {
  return isin_Tensor_Tensor(scalarBeside(element, testElements), testElements, assumeUnique, invert, out)
}

/** torch.histc: counts in equal bins over [min, max], or over the range of the data where both are equal. */
export function histc(self: Tensor, bins: number, min: Scalar, max: Scalar, out?: Tensor): Tensor {
  if (self.type !== DType.float32 && self.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `histc: expected float32 or float64, found ${self.dtype}`)
  }
  check(bins > 0, () => `histc: expected a positive number of bins, found ${bins}`)
  let low = Number(min)
  let high = Number(max)
  if (low === high && self.numel > 0) {
    low = Number(itemOf(reduce('min', self, null, false, self.type)))
    high = Number(itemOf(reduce('max', self, null, false, self.type)))
  }
  if (low === high) {
    low -= 1
    high += 1
  }
  check(Number.isFinite(low) && Number.isFinite(high), () => `histc: the range from ${low} to ${high} is not finite`)
  check(low < high, () => `histc: expected max above min, found ${low} to ${high}`)
  const result = zerosOf([bins], self.type)
  const data = contiguousOf(self)
  kernels.histogram({ dtype: self.type, count: data.numel, bins, low, high, in: data.address, out: result.address })
  return deliverExact(result, out, 'histc')
}

/** torch.bincount: how often each number occurs, or the sum of its weights. */
export function bincount(self: Tensor, weights: Tensor | null, minlength: number): Tensor {
  if (!isIntegral(self.type)) throw new PtliteError('INVALID_DTYPE', `bincount: expected an integer dtype, found ${self.dtype}`)
  check(minlength >= 0, () => `bincount: expected minlength of at least 0, found ${minlength}`)
  check(self.dim === 1, () => `bincount: expected one dimension, found ${self.dim}`)
  if (self.numel === 0) return zerosOf([minlength], DType.int64)
  check(weights === null || (weights.dim === 1 && weights.numel === self.numel), () => 'bincount: expected as many weights as elements')
  const low = Number(itemOf(reduce('min', self, null, false, self.type)))
  check(low >= 0, () => `bincount: expected no negative elements, found ${low}`)
  const bins = Math.max(minlength, Number(itemOf(reduce('max', self, null, false, self.type))) + 1)
  const data = contiguousOf(castTo(self, DType.int64))
  const share = weights === null ? null : contiguousOf(castTo(weights, DType.float64))
  const out = zerosOf([bins], share === null ? DType.int64 : DType.float64)
  kernels.bin_count({ count: data.numel, bins, in: data.address, weights: share === null ? 0 : share.address, out: out.address })
  return weights !== null && weights.type === DType.float32 ? castTo(out, DType.float32) : out
}
