import { check, PtliteError } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { contiguousStrides, numelOf, sameShape } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { flattened, reshaped, zerosOf } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { binsOf, edgesBetween } from './histogram.js'

/** Histograms of points [..., d] in d dimensions (torch.histogramdd). */

type Result = [Tensor, Tensor[]]
const OPERATOR = 'histogramdd'

function dimensionsOf(self: Tensor, bins: number): number {
  if (self.type !== DType.float32 && self.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `${OPERATOR}: expected float32 or float64, found ${self.dtype}`)
  }
  check(self.dim >= 2, () => `${OPERATOR}: expected at least 2 dimensions, found shape [${self.shape.join(', ')}]`)
  const dims = self.shape[self.dim - 1]!
  check(bins === dims, () => `${OPERATOR}: expected bins for each of ${dims} dimensions, found ${bins}`)
  return dims
}

/** Edges of equal bins per dimension, over `range` [min 0, max 0, min 1, ...] or what the points span. */
export const _histogramdd_bin_edges: Composite['_histogramdd_bin_edges'] = (self, bins, range) => {
  const dims = dimensionsOf(self, bins.length)
  check(range === null || range.length === 2 * dims, () => `${OPERATOR}: expected a range of ${2 * dims} numbers, found ${range!.length}`)
  return bins.map((count, d) => edgesBetween(OPERATOR, v.select(self, -1, d), count, range && range.slice(2 * d, 2 * d + 2)))
}

function checkEdges(self: Tensor, edges: readonly Tensor[]): void {
  for (const e of edges) {
    check(
      e.dim === 1 && e.numel > 1,
      () => `${OPERATOR}: expected vectors of at least two edges, found one of shape [${e.shape.join(', ')}]`,
    )
    if (e.type !== self.type) throw new PtliteError('INVALID_DTYPE', `${OPERATOR}: expected edges of dtype ${self.dtype}, found ${e.dtype}`)
  }
}

/** Weights of the points in a row; 1 each where none are given. */
function weightsOf(self: Tensor, weight: Tensor | null): Tensor {
  const lead = self.shape.slice(0, -1)
  if (weight === null) return at.add_Scalar(zerosOf([numelOf(lead)], self.type), 1, 1)
  check(
    sameShape(weight.shape, lead) && weight.type === self.type,
    () => `${OPERATOR}: expected ${self.dtype} weights of shape [${lead.join(', ')}], found ${weight.dtype}[${weight.shape.join(', ')}]`,
  )
  return flattened(weight)
}

/** Counts, sums of weights or densities between edges; points outside are left out, the last bins hold their right edges. */
export function _histogramdd_from_bin_tensors(self: Tensor, edges: Tensor[], weight: Tensor | null, density: boolean): Tensor {
  dimensionsOf(self, edges.length)
  checkEdges(self, edges)
  const shape = edges.map((e) => e.numel - 1)
  let share = weightsOf(self, weight)
  let place = zerosOf([share.numel], DType.int64)
  contiguousStrides(shape).forEach((stride, d) => {
    const [bin, inside] = binsOf(flattened(v.select(self, -1, d)), edges[d]!)
    place = at.add_Tensor(place, bin, stride)
    share = at.where_self(inside, share, zerosOf([], self.type))
  })
  const none = zerosOf([numelOf(shape)], self.type)
  const hist = reshaped(self.numel === 0 ? none : at.scatter_add(none, 0, place, share), shape)
  if (!density) return hist
  return edges.reduce(
    (total, e, d) => {
      const widths = at.sub_Tensor(v.slice(e, 0, 1), v.slice(e, 0, 0, e.numel - 1), 1)
      return at.div_Tensor(total, reshaped(widths, shape.map((size, k) => (k === d ? size : 1)))) // prettier-ignore
    },
    at.div_Tensor(hist, at.sum(hist, null)),
  )
}

export const _histogramdd_from_bin_cts: Composite['_histogramdd_from_bin_cts'] = (self, bins, range, weight, density) =>
  histogramdd(self, bins, range, weight, density)[0]

export function histogramdd(self: Tensor, bins: number[], range: number[] | null, weight: Tensor | null, density: boolean): Result {
  const edges = _histogramdd_bin_edges(self, bins, range, weight, density)
  return [_histogramdd_from_bin_tensors(self, edges, weight, density), edges]
}

/** As many bins in every dimension. */
export function histogramdd_int_bins(self: Tensor, bins: number, range: number[] | null, weight: Tensor | null, density: boolean): Result {
  const dims = self.shape[self.dim - 1] ?? 0
  v.checkParts(dims)
  return histogramdd(self, new Array<number>(dims).fill(bins), range, weight, density)
}

/** Given edges; the range is not used. */
export const histogramdd_TensorList_bins: Composite['histogramdd_TensorList_bins'] = (self, edges, _range, weight, density) => {
  const hist = _histogramdd_from_bin_tensors(self, edges, weight, density)
  return [hist, [...edges]]
}
