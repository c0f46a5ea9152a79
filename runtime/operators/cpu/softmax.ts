import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import type { DType } from '../../tensor/dtype.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'
import { writeOutExact } from '../support/write-out.js'
import { checkReal, computeType, dense } from '../support/real.js'

/** Softmax, or its logarithm, over dimension `dim`; half precision is computed in float32. */
function softmax(operator: string, self: Tensor, dim: number, log: boolean, type: DType): Tensor {
  const at = wrapDim(dim, self.dim)
  checkReal(operator, type)
  const inner = computeType(type)
  const x = dense(castTo(self, type), inner)
  const result = empty(self.shape, inner)
  let outer = 1
  let size = 1
  let across = 1
  for (let d = 0; d < self.dim; d++) {
    if (d < at) outer *= self.shape[d]!
    else if (d === at) size = self.shape[d]!
    else across *= self.shape[d]!
  }
  if (outer * size * across > 0) {
    kernels.softmax({ dtype: inner, log: log ? 1 : 0, outer, size, inner: across, input: x.address, output: result.address })
  }
  return castTo(result, type)
}

/** torch.softmax; the input is converted to `dtype` first. */
export function softmax_int(self: Tensor, dim: number, dtype: DType | null): Tensor {
  return softmax('softmax', self, dim, false, dtype ?? self.type)
}

/** torch.log_softmax; the input is converted to `dtype` first. */
export function log_softmax_int(self: Tensor, dim: number, dtype: DType | null): Tensor {
  return softmax('log_softmax', self, dim, true, dtype ?? self.type)
}

function checkNoHalf(operator: string, halfToFloat: boolean): void {
  check(!halfToFloat, () => `${operator}: half_to_float is for other devices than the CPU`)
}

export function _softmax(self: Tensor, dim: number, halfToFloat: boolean, out?: Tensor): Tensor {
  checkNoHalf('_softmax', halfToFloat)
  return writeOutExact(softmax('_softmax', self, dim, false, self.type), out, '_softmax')
}

export function _log_softmax(self: Tensor, dim: number, halfToFloat: boolean, out?: Tensor): Tensor {
  checkNoHalf('_log_softmax', halfToFloat)
  return writeOutExact(softmax('_log_softmax', self, dim, true, self.type), out, '_log_softmax')
}
