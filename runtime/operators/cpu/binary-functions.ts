import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating, isIntegral } from '../../tensor/dtype.js'
import { anyComplex, type AnyOperand, notComplex, promotePair } from '../../tensor/promote.js'
import { Float } from '../../tensor/scalar.js'
import { type Tensor } from '../../tensor/tensor.js'
import { complexLogAddExp, complexPower } from './complex-functions.js'
import { checkSameType, notFor, runBinary } from './support/elementwise.js'
import { anyType, keeping, plainPair, real } from './support/binary.js'
import { mul_out, pow_out, powOf } from './binary.js'

const BinaryOp = kernels.BinaryOp

export const atan2_out = real('atan2', BinaryOp.atan2)
export const copysign_out = real('copysign', BinaryOp.copysign)
export const xlogy_out = real('xlogy', BinaryOp.xlogy)
export const special_xlog1py_out = real('special_xlog1py', BinaryOp.xlog1py)
export const special_zeta_out = real('special_zeta', BinaryOp.zeta)

/** self * 2^other */
export function ldexp_out(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  return mul_out(self, pow_out(new Float(2), other), out)
}
export const fmax_out = keeping('fmax', BinaryOp.fmax, anyType)
export const fmin_out = keeping('fmin', BinaryOp.fmin, anyType)
export const hypot_out = keeping('hypot', BinaryOp.hypot, isFloating)
const realLogAddExp = keeping('logaddexp', BinaryOp.logaddexp, isFloating)

export function logaddexp_out(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  return anyComplex(self, other) ? complexLogAddExp(self, other, out) : realLogAddExp(self, other, out)
}

export const logaddexp2_out = keeping('logaddexp2', BinaryOp.logaddexp2, isFloating)
export const gcd_out = keeping('gcd', BinaryOp.gcd, (t) => isIntegral(t))
export const lcm_out = keeping('lcm', BinaryOp.lcm, (t) => isIntegral(t))

/** 0, `values` or 1 where self is below, at or above 0. Both must have one dtype. */
export function heaviside_out(self: Tensor, values: Tensor, out?: Tensor): Tensor {
  plainPair('heaviside', self, values)
  check(self.type === values.type, () => `heaviside expects operands of one dtype, found ${self.dtype} and ${values.dtype}`)
  checkSameType('heaviside', out, self.type)
  return runBinary(BinaryOp.heaviside, self, values, self.type, self.type, out)
}

/** The next representable number after self on the way to other. */
export function nextafter_out(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  const common = promotePair(self, other)
  if (!isFloating(common)) notFor('nextafter', common)
  const op = common === DType.bfloat16 ? BinaryOp.nextafter_bf16 : common === DType.float16 ? BinaryOp.nextafter_f16 : BinaryOp.nextafter
  return runBinary(op, self, other, common, common, out)
}

/** pow in float64. In place self must be float64 already. */
export function float_power_out(base: AnyOperand, power: AnyOperand, out?: Tensor): Tensor {
  if (anyComplex(base, power)) {
    checkSameType('float_power', out, DType.complex128)
    return complexPower(base, power, out, DType.complex128)
  }
  const [self, exponent] = [notComplex(base), notComplex(power)]
  plainPair('float_power', self, exponent)
  const type = DType.float64
  check(out === undefined || out.type === type, () => `float_power writes float64, found an output of dtype ${out!.dtype}`)
  return powOf(self, exponent, type, out)
}
