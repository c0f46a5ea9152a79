import { notComplex } from '../../tensor/complex-promote.js'
import { type AnyScalar, type Scalar } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import * as cpu from '../cpu/comparison.js'
import { dequantized } from '../cpu/support/quantization.js'

/** Comparisons of the values that quantized tensors stand for, as PyTorch makes them. */

function valueOf(x: Tensor | Scalar): Tensor | Scalar {
  return x instanceof Tensor && x.quant !== null ? dequantized(x) : x
}

export function quantized_eq_out(self: Tensor, other: Tensor | AnyScalar, out?: Tensor): Tensor {
  return cpu.eq_out(self.quant === null ? self : dequantized(self), valueOf(notComplex(other)), out)
}

export function quantized_ne_out(self: Tensor, other: Tensor | AnyScalar, out?: Tensor): Tensor {
  return cpu.ne_out(self.quant === null ? self : dequantized(self), valueOf(notComplex(other)), out)
}

export function quantized_lt_out(self: Tensor, other: Tensor | Scalar, out?: Tensor): Tensor {
  return cpu.lt_out(self.quant === null ? self : dequantized(self), valueOf(other), out)
}

export function quantized_le_out(self: Tensor, other: Tensor | Scalar, out?: Tensor): Tensor {
  return cpu.le_out(self.quant === null ? self : dequantized(self), valueOf(other), out)
}

export function quantized_gt_out(self: Tensor, other: Tensor | Scalar, out?: Tensor): Tensor {
  return cpu.gt_out(self.quant === null ? self : dequantized(self), valueOf(other), out)
}

export function quantized_ge_out(self: Tensor, other: Tensor | Scalar, out?: Tensor): Tensor {
  return cpu.ge_out(self.quant === null ? self : dequantized(self), valueOf(other), out)
}
