import { PtliteError } from '../../error.js'
import { notComplex } from '../../tensor/promote.js'
import { DType } from '../../tensor/dtype.js'
import type { AnyScalar, Scalar } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import * as cpu from '../cpu/comparison.js'
import { dequantized } from '../support/quantization.js'

/** Comparisons of the values that quantized tensors stand for, as PyTorch makes them: into bool tensors alone. */

type Comparison = (self: Tensor, other: Tensor | Scalar, out?: Tensor) => Tensor

function ofValues(compare: Comparison): Comparison {
  return (self, other, out) => {
    if (out !== undefined && out.type !== DType.bool) {
      throw new PtliteError('INVALID_DTYPE', `quantized tensors are compared into bool tensors, found one of ${out.dtype}`)
    }
    return compare(valueOf(self), other instanceof Tensor ? valueOf(other) : other, out)
  }
}

/** The same where the other operand may be a complex number, which no quantized tensor is compared with. */
function ofRealValues(compare: Comparison): (self: Tensor, other: Tensor | AnyScalar, out?: Tensor) => Tensor {
  const compared = ofValues(compare)
  return (self, other, out) => compared(self, other instanceof Tensor ? other : notComplex(other), out)
}

function valueOf(x: Tensor): Tensor {
  return x.quant === null ? x : dequantized(x)
}

export const quantized_eq_out = ofRealValues(cpu.eq_out)
export const quantized_ne_out = ofRealValues(cpu.ne_out)
export const quantized_lt_out = ofValues(cpu.lt_out)
export const quantized_le_out = ofValues(cpu.le_out)
export const quantized_gt_out = ofValues(cpu.gt_out)
export const quantized_ge_out = ofValues(cpu.ge_out)
