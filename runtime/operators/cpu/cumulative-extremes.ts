import { check, PtliteError } from '../../error.js'
import { holdsComplex, isFloating } from '../../tensor/dtype.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { writeOut, writeOutExact } from '../support/write-out.js'
import { complexScan, scan } from './cumulative.js'

function extreme(op: 'max' | 'min', self: Tensor, dim: number, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  const { values, indices } = scan(op, self, dim, self.type)
  return [writeOutExact(values, outValues, `cum${op}`), writeOutExact(indices!, outIndices, `cum${op}`)]
}

/** torch.cummax: the largest element so far and the last position where it stands. */
export function cummax(self: Tensor, dim: number, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return extreme('max', self, dim, outValues, outIndices)
}

export function cummin(self: Tensor, dim: number, outValues?: Tensor, outIndices?: Tensor): [Tensor, Tensor] {
  return extreme('min', self, dim, outValues, outIndices)
}

/** cummax into tensors that have its shape and dtypes already. */
function extremeInto(op: 'max' | 'min', self: Tensor, outValues: Tensor, outIndices: Tensor, dim: number): void {
  for (const out of [outValues, outIndices]) {
    check(
      sameShape(out.shape, self.shape),
      () => `cum${op}: expected results of shape ${shapeText(self.shape)}, found ${shapeText(out.shape)}`,
    )
  }
  extreme(op, self, dim, outValues, outIndices)
}

export function _cummax_helper(self: Tensor, values: Tensor, indices: Tensor, dim: number): void {
  extremeInto('max', self, values, indices, dim)
}

export function _cummin_helper(self: Tensor, values: Tensor, indices: Tensor, dim: number): void {
  extremeInto('min', self, values, indices, dim)
}

/** torch.logcumsumexp for floating point tensors. */
export function logcumsumexp(self: Tensor, dim: number, out?: Tensor): Tensor {
  if (holdsComplex(self)) return writeOutExact(complexScan('logsumexp', self, dim), out, 'logcumsumexp')
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `logcumsumexp: expected a floating point dtype, found ${self.dtype}`)
  return writeOut(scan('logsumexp', self, dim, self.type).values, out)
}
