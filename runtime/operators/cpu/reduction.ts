import { PtliteError } from '../../error.js'
import { reducedDims, reducedShape } from '../../shapes/dims.js'
import { movedim, transpose } from '../../tensor/view.js'
import { DType, dtypeName, holdsComplex, isComplex, isFloating, isIntegral } from '../../tensor/dtype.js'
import { wrapDim } from '../../tensor/shape.js'
import { become, type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, cloneOf } from '../support/copy.js'
import { checkOutType, writeOut, writeOutExact } from '../support/write-out.js'
import { flattened, reshaped } from '../support/make.js'
import { checkNotEmpty, reduce, reduceArg } from '../support/reduce.js'
import { complexFold, onPairs } from './complex-functions.js'

/** Results of sums and products: integers and bool go to int64 unless a dtype is asked for. */
function accumulated(self: Tensor, dtype: DType | null, out?: Tensor): DType {
  return dtype ?? out?.type ?? (isIntegral(self.type, true) ? DType.int64 : self.type)
}

/** The input as the kernel should read it: a narrower or integral result dtype applies before folding, not after. */
function folding(self: Tensor, type: DType): Tensor {
  const halves = type === DType.float16 || type === DType.bfloat16 || type === DType.float32
  const before = isFloating(type) ? halves && self.type !== type && isFloating(self.type) : self.type !== type && isFloating(self.type)
  if (holdsComplex(self) && !isComplex(type)) return castTo(self, type)
  return before || (type === DType.bool && self.type !== type) ? castTo(self, type) : self
}

/** A sum or mean of complex numbers is that of their parts. */
function foldParts(op: 'sum' | 'mean', self: Tensor, dim: readonly number[] | null, keepdim: boolean): Tensor {
  const folded = reducedDims(dim, self.dim)
  const dims = folded.flatMap((is, d) => (is ? [d] : []))
  return onPairs(self, (pairs) => (dims.length === 0 ? cloneOf(pairs) : reduce(op, pairs, dims, keepdim, pairs.type)))
}

/** The product of complex numbers along one dimension, or of all. */
function complexProd(self: Tensor, dim: number | null, keepdim: boolean): Tensor {
  if (dim === null || self.dim === 0) return complexFold('prod', flattened(self))
  const along = wrapDim(dim, self.dim)
  const result = complexFold('prod', transpose(self, along, -1))
  // the last dimension has taken the place of the one that is gone
  const shape = reducedShape(self.shape, reducedDims([dim], self.dim), keepdim)
  if (along === self.dim - 1) return reshaped(result, shape)
  return reshaped(movedim(result, [along], [-1]), shape)
}

/** torch.sum over `dim` (null or empty: all dims). */
export function sum_dim_IntList(self: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  const type = accumulated(self, dtype, out)
  if (out !== undefined) checkOutType(out, type, 'sum')
  if (isComplex(type)) return writeOut(foldParts('sum', castTo(self, type), dim, keepdim), out)
  return writeOut(reduce('sum', folding(self, type), dim, keepdim, type), out)
}

export function sum(self: Tensor, dtype: DType | null, out?: Tensor): Tensor {
  return sum_dim_IntList(self, null, false, dtype, out)
}

/** torch.nansum: NaN counts as zero. */
export function nansum(self: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  if (isIntegral(self.type, true)) return sum_dim_IntList(self, dim, keepdim, dtype, out)
  const type = accumulated(self, dtype, out)
  if (!isFloating(type)) throw new PtliteError('INVALID_DTYPE', `nansum: expected a floating point dtype, found ${dtypeName(type)}`)
  return writeOut(reduce('nansum', folding(self, type), dim, keepdim, type), out)
}

/** torch.mean over `dim` (null or empty: all dims). The result is floating point. */
export function mean_dim(self: Tensor, dim: number[] | null, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  const type = dtype ?? self.type
  if (isComplex(type)) return writeOut(foldParts('mean', castTo(self, type), dim, keepdim), out)
  if (!isFloating(type)) {
    throw new PtliteError('INVALID_DTYPE', `mean: expected a floating point dtype, found ${dtypeName(type)}`)
  }
  return writeOut(reduce('mean', folding(self, type), dim, keepdim, type), out)
}

export function mean(self: Tensor, dtype: DType | null, out?: Tensor): Tensor {
  return mean_dim(self, null, false, dtype, out)
}

/** As mean, in the dtype of `out` where none is given. */
export function mean_dtype_out(self: Tensor, dtype: DType | null, out: Tensor): Tensor {
  if (dtype === null && !isFloating(self.type) && !isComplex(self.type))
    throw new PtliteError('INVALID_DTYPE', `mean: expected a dtype for a ${self.dtype} tensor`)
  const type = dtype ?? out.type
  checkOutType(out, type, 'mean')
  return mean_dim(self, null, false, type, out)
}

export function prod(self: Tensor, dtype: DType | null, out?: Tensor): Tensor {
  const type = accumulated(self, dtype, out)
  if (isComplex(type)) return writeOut(complexProd(castTo(self, type), null, false), out)
  return writeOut(reduce('prod', folding(self, type), null, false, type), out)
}

export function prod_dim_int(self: Tensor, dim: number, keepdim: boolean, dtype: DType | null, out?: Tensor): Tensor {
  const type = accumulated(self, dtype, out)
  if (isComplex(type)) return writeOut(complexProd(castTo(self, type), dim, keepdim), out)
  return writeOut(reduce('prod', folding(self, type), [dim], keepdim, type), out)
}

export function max(self: Tensor, out?: Tensor): Tensor {
  checkNotEmpty(self, null, 'max')
  return writeOut(reduce('max', self, null, false, self.type), out)
}

export function min(self: Tensor, out?: Tensor): Tensor {
  checkNotEmpty(self, null, 'min')
  return writeOut(reduce('min', self, null, false, self.type), out)
}

/** torch.amax: the largest element over `dim` (empty: all dims); NaN wins. */
export function amax(self: Tensor, dim: number[], keepdim: boolean, out?: Tensor): Tensor {
  checkNotEmpty(self, dim, 'amax')
  return writeOutExact(reduce('max', self, dim, keepdim, self.type), out, 'amax')
}

export function amin(self: Tensor, dim: number[], keepdim: boolean, out?: Tensor): Tensor {
  checkNotEmpty(self, dim, 'amin')
  return writeOutExact(reduce('min', self, dim, keepdim, self.type), out, 'amin')
}

/** torch.aminmax over one dim, or over all where `dim` is null. */
export function aminmax(self: Tensor, dim: number | null, keepdim: boolean, outMin?: Tensor, outMax?: Tensor): [Tensor, Tensor] {
  const dims = dim === null ? null : [dim]
  checkNotEmpty(self, dims, 'aminmax')
  const extremes = [reduce('min', self, dims, keepdim, self.type), reduce('max', self, dims, keepdim, self.type)]
  // PyTorch gives a number that keeps its dim a size
  const [low, high] = (self.dim === 0 && dim !== null && keepdim ? extremes.map((t) => viewOf(t, [1], [1])) : extremes) as [Tensor, Tensor]
  return [writeOutExact(low, outMin, 'aminmax'), writeOutExact(high, outMax, 'aminmax')]
}

export function _aminmax(self: Tensor): [Tensor, Tensor] {
  return aminmax(self, null, false)
}

export function _aminmax_dim(self: Tensor, dim: number, keepdim: boolean): [Tensor, Tensor] {
  return aminmax(self, dim, keepdim)
}

function extreme(
  op: 'max' | 'min',
  self: Tensor,
  dim: number,
  keepdim: boolean,
  outValues?: Tensor,
  outIndices?: Tensor,
): [Tensor, Tensor] {
  checkNotEmpty(self, [dim], op)
  const { values, indices } = reduceArg(op, self, wrapDim(dim, self.dim), keepdim, true)
  return [writeOutExact(values!, outValues, op), writeOutExact(indices, outIndices, op)]
}

/** torch.max along `dim`: values and the positions of the first such element. */
export function max_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return extreme('max', self, dim, keepdim, outValues, outIndices)
}

export function min_dim(self: Tensor, dim: number, keepdim: boolean, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return extreme('min', self, dim, keepdim, outValues, outIndices)
}

function argExtreme(op: 'max' | 'min', self: Tensor, dim: number | null, keepdim: boolean, out?: Tensor): Tensor {
  if (self.type === DType.bool && self.numel > 0) throw new PtliteError('INVALID_DTYPE', `arg${op}: expected a numeric dtype, found bool`)
  checkNotEmpty(self, dim === null ? null : [dim], `arg${op}`)
  if (dim !== null) return writeOutExact(reduceArg(op, self, wrapDim(dim, self.dim), keepdim, false).indices, out, `arg${op}`)
  const { indices } = reduceArg(op, flattened(self), 0, false, false)
  if (keepdim) become(indices, indices.storage, 0, self.shape.map(() => 1), self.shape.map(() => 1)) // prettier-ignore
  return writeOutExact(indices, out, `arg${op}`)
}

/** torch.argmax: the first position (int64), of the flattened tensor where `dim` is null. */
export function argmax(self: Tensor, dim: number | null, keepdim: boolean, out?: Tensor): Tensor {
  return argExtreme('max', self, dim, keepdim, out)
}

export function argmin(self: Tensor, dim: number | null, keepdim: boolean, out?: Tensor): Tensor {
  return argExtreme('min', self, dim, keepdim, out)
}
