import * as kernels from '../../native/generated/kernels.js'
import { viewAsComplex } from '../../tensor/complex.js'
import { DType, realOf } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'
import { deliver } from '../support/deliver.js'

/** A function of a complex tensor, element by element; a complex result of the same precision. */
export function complexFunction(op: number, self: Tensor, out?: Tensor): Tensor {
  const real = realOf(self.type)
  const input = contiguousOf(self)
  const result = viewAsComplex(empty([...self.shape, 2], real))
  kernels.complex_unary({ op, wide: real === DType.float64 ? 1 : 0, n: self.numel, in: input.address, out: result.address })
  return deliver(result, out)
}
