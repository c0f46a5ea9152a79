import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, dtypeName, isComplex, isFloating, isIntegral } from '../../tensor/dtype.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { transpose } from '../../tensor/view.js'
import { castTo, cloneOf, contiguousOf } from '../support/copy.js'
import { checkOutType, writeOut } from '../support/write-out.js'
import { linesAlong } from '../support/reduce.js'
import { complexFold, onPairs } from './complex-functions.js'

/** Runs `op` along `dim` into new contiguous tensors of dtype `type`; positions only for max and min. */
export function scan(op: keyof typeof kernels.ScanOp, self: Tensor, dim: number, type: DType): { values: Tensor; indices: Tensor | null } {
  const along = wrapDim(dim, self.dim)
  const values = empty([...self.shape], type)
  const indices = op === 'max' || op === 'min' ? empty([...self.shape], DType.int64) : null
  if (values.numel === 0) return { values, indices }
  const lines = linesAlong(along, self, values)
  kernels.scan({
    op: kernels.ScanOp[op],
    in_dtype: self.type,
    out_dtype: type,
    integral: isFloating(type) ? 0 : 1,
    ndim: lines.sizes.length,
    sizes: lines.sizes,
    in_strides: lines.strides[0]!,
    out_strides: lines.strides[1]!,
    count: lines.count,
    in_step: lines.steps[0]!,
    out_step: lines.steps[1]!,
    in: self.address,
    out: values.address,
    indices_out: indices === null ? 0 : indices.address,
  })
  return { values, indices }
}

/** Running sums of complex numbers are those of their parts. */
export function complexScan(op: 'sum' | 'prod' | 'logsumexp', self: Tensor, dim: number): Tensor {
  const along = wrapDim(dim, self.dim)
  if (self.dim === 0) return cloneOf(self)
  if (op === 'sum') return onPairs(self, (pairs) => scan('sum', pairs, along, pairs.type).values)
  return contiguousOf(transpose(complexFold(op === 'prod' ? 'cumprod' : 'logcumsumexp', transpose(self, along, -1)), along, -1))
}

function accumulate(op: 'sum' | 'prod', self: Tensor, dim: number, dtype: DType | null, out?: Tensor): Tensor {
  const inPlace = out === self
  if (inPlace && dtype !== null && dtype !== self.type) {
    throw new PtliteError(
      'INVALID_DTYPE',
      `cum${op}_: expected dtype ${self.dtype}, that of the tensor written to, found ${dtypeName(dtype)}`,
    )
  }
  const type = dtype ?? out?.type ?? (isIntegral(self.type, true) ? DType.int64 : self.type)
  if (type === DType.bool) throw new PtliteError('INVALID_DTYPE', `cum${op}: a running result cannot be bool`)
  if (out !== undefined) checkOutType(out, type, `cum${op}`)
  if (isComplex(type)) return writeOut(complexScan(op, castTo(self, type), dim), out)
  return writeOut(scan(op, isFloating(type) ? self : castTo(self, type), dim, type).values, out)
}

/** torch.cumsum: integers and bool are summed in int64 unless a dtype is given. */
export function cumsum(self: Tensor, dim: number, dtype: DType | null, out?: Tensor): Tensor {
  return accumulate('sum', self, dim, dtype, out)
}

export function cumprod(self: Tensor, dim: number, dtype: DType | null, out?: Tensor): Tensor {
  return accumulate('prod', self, dim, dtype, out)
}
