import { PtliteError } from '../../error.js'
import { DType, holdsComplex } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'
import { checkOutType, writeOut } from '../support/write-out.js'
import { computeType, reduce } from '../support/reduce.js'
import { complexTruth } from './complex-arithmetic.js'

/** An empty list of dims folds none. */
function truth(op: 'any' | 'all', self: Tensor, dims: number[] | null, keepdim: boolean, out?: Tensor): Tensor {
  if (out !== undefined && out.type !== DType.bool && out.type !== DType.uint8) checkOutType(out, DType.bool, op)
  if (holdsComplex(self)) return truth(op, complexTruth(self), dims, keepdim, out)
  const type = self.type === DType.uint8 ? DType.uint8 : DType.bool
  if (dims?.length === 0) return writeOut(castTo(castTo(self, DType.bool), type), out)
  return writeOut(reduce(op, self, dims, keepdim, type, { compute: computeType(self.type) }), out)
}

function checkBool(t: Tensor): Tensor {
  if (t.type !== DType.bool) throw new PtliteError('INVALID_DTYPE', `expected a tensor of dtype bool, found ${t.dtype}`)
  return t
}

/** torch.any: bool, or uint8 for uint8 tensors. */
export function any(self: Tensor, out?: Tensor): Tensor {
  return truth('any', self, null, false, out)
}

export function any_dim(self: Tensor, dim: number, keepdim: boolean, out?: Tensor): Tensor {
  return truth('any', self, [dim], keepdim, out)
}

export function any_dims(self: Tensor, dims: number[] | null, keepdim: boolean, out?: Tensor): Tensor {
  return truth('any', self, dims, keepdim, out)
}

export function _is_any_true(self: Tensor): Tensor {
  return truth('any', checkBool(self), null, false)
}

export function all(self: Tensor, out?: Tensor): Tensor {
  return truth('all', self, null, false, out)
}

export function all_dim(self: Tensor, dim: number, keepdim: boolean, out?: Tensor): Tensor {
  return truth('all', self, [dim], keepdim, out)
}

export function all_dims(self: Tensor, dims: number[] | null, keepdim: boolean, out?: Tensor): Tensor {
  return truth('all', self, dims, keepdim, out)
}

export function _is_all_true(self: Tensor): Tensor {
  return truth('all', checkBool(self), null, false)
}

export function count_nonzero_dim_IntList(self: Tensor, dim: number[]): Tensor {
  if (holdsComplex(self)) return count_nonzero_dim_IntList(complexTruth(self), dim)
  return reduce('count_nonzero', self, dim, false, DType.int64, { compute: computeType(self.type) })
}

export function count_nonzero(self: Tensor, dim: number | null): Tensor {
  return count_nonzero_dim_IntList(self, dim === null ? [] : [dim])
}
