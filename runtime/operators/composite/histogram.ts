import { check, PtliteError } from '../../error.js'
import { itemOf } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import type { TensorOptions } from '../../tensor/options.js'
import { Float } from '../../tensor/scalar.js'
import { sameShape } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { writeOutExact } from '../support/write-out.js'
import { flattened, zerosOf } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'
import { clone } from './convert.js'
import { ones_like } from './factory.js'
import { linspace } from './sequence.js'

type Pair = [Tensor, Tensor]

function checkNumbers(self: Tensor, weight: Tensor | null): void {
  if (self.type !== DType.float32 && self.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `histogram: expected float32 or float64, found ${self.dtype}`)
  }
  check(
    weight === null || (sameShape(weight.shape, self.shape) && weight.type === self.type),
    () => `histogram: expected weights like the input, found ${weight!.dtype}[${weight!.shape.join(', ')}]`,
  )
}

/** The bin between rising `edges` of each element of a vector, and whether it lies in one: the last bin holds its right edge too. */
export function binsOf(x: Tensor, edges: Tensor): Pair {
  const bins = edges.numel - 1
  const last = v.select(edges, 0, bins)
  const position = at.sub_Scalar(at.searchsorted_Tensor(edges, x, false, true, null, null), 1, 1)
  const bin = at.clamp(at.where_self(at.eq_Tensor(x, last), at.sub_Scalar(position, 1, 1), position), 0, bins - 1)
  return [bin, at.logical_and(at.ge_Tensor(x, v.select(edges, 0, 0)), at.le_Tensor(x, last))]
}

/** Counts between edges; what lies outside is left out. */
function counted(self: Tensor, edges: Tensor, weight: Tensor | null, density: boolean): Tensor {
  const bins = edges.numel - 1
  const x = flattened(self)
  const [bin, inside] = binsOf(x, edges)
  const share = at.mul_Tensor(inside, weight === null ? ones_like(x, noOptions, null) : flattened(weight))
  const hist = at.scatter_add(zerosOf([bins], self.type), 0, bin, share)
  if (!density) return hist
  const widths = at.sub_Tensor(v.slice(edges, 0, 1), v.slice(edges, 0, 0, bins), 1)
  return at.div_Tensor(hist, at.mul_Tensor(widths, at.sum(hist, null)))
}

const noOptions: TensorOptions = { dtype: null, layout: null, device: null, pinMemory: null }

/** torch.histogram with given edges, a rising vector. Results: counts or sums of weights per bin, or their density, and the edges. */
export function histogram_bins_tensor(self: Tensor, bins: Tensor, weight: Tensor | null, density: boolean): Pair {
  checkNumbers(self, weight)
  check(
    bins.dim === 1 && bins.numel > 1,
    () => `histogram: expected a vector of at least two edges, found shape [${bins.shape.join(', ')}]`,
  )
  check(bins.type === self.type, () => `histogram: expected edges of dtype ${self.dtype}, found ${bins.dtype}`)
  return [counted(self, bins, weight, density), clone(bins, null)]
}

/** The ends of the outermost bins: what is asked for, else the extremes; a range without width is widened by a half on both sides. */
function outerEdges(operator: string, self: Tensor, range: readonly number[] | null): [number, number] {
  let [low, high] = [0, 1]
  if (range !== null) {
    check(range.length === 2 && range[0]! <= range[1]!, () => `${operator}: expected a rising range, found [${range.join(', ')}]`)
    low = range[0]!
    high = range[1]!
  } else if (self.numel > 0) {
    const extremes = at.aminmax(self, null, false)
    low = Number(itemOf(extremes[0]))
    high = Number(itemOf(extremes[1]))
  }
  check(Number.isFinite(low) && Number.isFinite(high), () => `${operator}: a range from ${low} to ${high} is not finite`)
  return low === high ? [low - 0.5, high + 0.5] : [low, high]
}

/** Edges of `bins` equal bins over `range` or what the elements span. */
export function edgesBetween(operator: string, self: Tensor, bins: number, range: readonly number[] | null): Tensor {
  check(bins > 0 && bins < 2 ** 31, () => `${operator}: expected at least one bin, found ${bins}`)
  const [low, high] = outerEdges(operator, self, range)
  return linspace(new Float(low), new Float(high), bins + 1, { ...noOptions, dtype: self.type })
}

/** torch.histogram with `bins` equal bins over `range` or what the elements span. */
export function histogram_bin_ct(self: Tensor, bins: number, range: number[] | null, weight: Tensor | null, density: boolean): Pair {
  checkNumbers(self, weight)
  const edges = edgesBetween('histogram', self, bins, range)
  return [counted(self, edges, weight, density), edges]
}

function delivered([hist, edges]: Pair, outHist: Tensor, outEdges: Tensor): Pair {
  return [writeOutExact(hist, outHist, 'histogram'), writeOutExact(edges, outEdges, 'histogram')]
}

export const histogram_bins_tensor_out: Composite['histogram_bins_tensor_out'] = (self, bins, weight, density, hist, edges) =>
  delivered(histogram_bins_tensor(self, bins, weight, density), hist, edges)

export const histogram_bin_ct_out: Composite['histogram_bin_ct_out'] = (self, bins, range, weight, density, hist, edges) =>
  delivered(histogram_bin_ct(self, bins, range, weight, density), hist, edges)
