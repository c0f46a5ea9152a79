import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { holdsComplex, isFloating } from '../../tensor/dtype.js'
import { type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { writeOut } from '../support/write-out.js'
import { reducedDims } from '../../shapes/dims.js'
import { computeType, splitDims, splitFields } from '../support/reduce.js'
import { add_out } from './binary.js'
import { onParts } from './complex-functions.js'
import { sqrt_out } from './unary.js'
import type { CPU } from '../support/generated/interfaces.js'

export type Dims = readonly number[] | null

/** Variance (or its root) and mean over `dims`; the divisor is the count less `correction`. */
export function moments(
  self: Tensor,
  dims: Dims,
  correction: number,
  keepdim: boolean,
  root: boolean,
  wantMean: boolean,
): [Tensor, Tensor | null] {
  if (holdsComplex(self)) return complexMoments(self, dims, correction, keepdim, root, wantMean)
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `std and var: expected a floating point dtype, found ${self.dtype}`)
  const split = splitDims(self, reducedDims(dims, self.dim), keepdim)
  const spread = empty(split.shape, self.type)
  const mean = wantMean ? empty(split.shape, self.type) : null
  if (spread.numel > 0) {
    kernels.reduce_var({
      compute: computeType(self.type),
      in_dtype: self.type,
      out_dtype: self.type,
      take_root: root ? 1 : 0,
      ...splitFields(split),
      in: self.address,
      var_out: spread.address,
      mean_out: mean === null ? 0 : mean.address,
      correction,
    })
  }
  return [spread, mean]
}

/** The variance of complex numbers is the sum of those of their parts, and real. */
function complexMoments(
  self: Tensor,
  dims: Dims,
  correction: number,
  keepdim: boolean,
  root: boolean,
  wantMean: boolean,
): [Tensor, Tensor | null] {
  const parts: Tensor[] = []
  const mean = onParts(self, (part) => {
    const [spread, center] = moments(part, dims, correction, keepdim, false, true)
    parts.push(spread)
    return center!
  })
  const sum = add_out(parts[0]!, parts[1]!, 1)
  return [root ? sqrt_out(sum) : sum, wantMean ? mean : null]
}

function one(self: Tensor, dims: Dims, correction: number, keepdim: boolean, root: boolean, out?: Tensor): Tensor {
  return writeOut(moments(self, dims, correction, keepdim, root, false)[0], out)
}

/** Degrees of freedom to be taken off the count. */
export function freedom(correction: Scalar | null): number {
  return correction === null ? 1 : scalarToNumber(correction)
}

/** torch.var: sample variance over all dims, or population variance where not `unbiased`. */
export function variance(self: Tensor, unbiased: boolean): Tensor {
  return one(self, null, Number(unbiased), false, false)
}

export function variance_dim(self: Tensor, dim: number[] | null, unbiased: boolean, keepdim: boolean, out?: Tensor): Tensor {
  return one(self, dim, Number(unbiased), keepdim, false, out)
}

/** torch.var with the number of degrees of freedom taken off the count, a fraction too (null: 1). */
export function variance_correction(self: Tensor, dim: number[] | null, correction: Scalar | null, keepdim: boolean, out?: Tensor): Tensor {
  return one(self, dim, freedom(correction), keepdim, false, out)
}

/** torch.std, as `variance`. */
export function deviation(self: Tensor, unbiased: boolean): Tensor {
  return one(self, null, Number(unbiased), false, true)
}

export function deviation_dim(self: Tensor, dim: number[] | null, unbiased: boolean, keepdim: boolean, out?: Tensor): Tensor {
  return one(self, dim, Number(unbiased), keepdim, true, out)
}

export const deviation_correction: CPU['deviation_correction'] = (self, dim, correction, keepdim, out) =>
  one(self, dim, freedom(correction), keepdim, true, out)
