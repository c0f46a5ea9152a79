import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { resultTensor } from '../../tensor/iterator.js'
import { resizeOut } from '../../tensor/out.js'
import { anyComplex, type AnyOperand, notComplex, type Operand, promotePair, toFloating } from '../../tensor/promote.js'
import { type AnyScalar, checkInRange, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { Tensor } from '../../tensor/tensor.js'
import { checkSameType, computeFor, notFor, runBinary, runUnary } from './support/elementwise.js'
import { scaled } from './support/scaled-sum.js'
import { complexPower } from './complex-functions.js'
import { complexProduct, complexQuotient, complexSum, type RealArithmetic } from './complex-arithmetic.js'
import { fillScalar } from '../support/fill.js'
import { anyType, keeping, plainPair } from './support/binary.js'

const BinaryOp = kernels.BinaryOp
const UnaryOp = kernels.UnaryOp

function isBool(x: AnyOperand): boolean {
  return x instanceof Tensor ? x.type === DType.bool : typeof x === 'boolean'
}

/** a op alpha * b. */
function scaledSum(op: number, a: Operand, b: Operand, alpha: Scalar, out: Tensor | undefined): Tensor {
  const common = promotePair(a, b)
  return alpha === 1 ? runBinary(op, a, b, common, common, out) : scaled(op, a, b, alpha, common, out)
}

export const realArithmetic: RealArithmetic = {
  add: (a, b, alpha, out) => scaledSum(BinaryOp.add, a, b, alpha, out),
  sub: (a, b, alpha, out) => scaledSum(BinaryOp.sub, a, b, alpha, out),
  mul: (a, b, out) => mul_out(a, b, out),
  div: (a, b, out) => div_out(a, b, out),
}

export function add_out(self: Tensor, other: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  if (anyComplex(self, other)) return complexSum(realArithmetic, false, self, other, alpha, out)
  const b = notComplex(other)
  plainPair('add', self, b)
  return scaledSum(BinaryOp.add, self, b, notComplex(alpha), out)
}

export function sub_out(self: Tensor, other: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  check(!isBool(self) && !isBool(other), () => 'sub does not take bool tensors; use logical_xor or logical_not')
  if (anyComplex(self, other)) return complexSum(realArithmetic, true, self, other, alpha, out)
  const b = notComplex(other)
  plainPair('sub', self, b)
  return scaledSum(BinaryOp.sub, self, b, notComplex(alpha), out)
}

/** other - alpha * self */
function rsub_out(self: Tensor, other: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  check(self.type !== DType.bool && !(other instanceof Tensor && isBool(other)), () => 'rsub does not take bool tensors')
  if (anyComplex(self, other)) return complexSum(realArithmetic, true, other, self, alpha, out)
  const b = notComplex(other)
  plainPair('rsub', self, b)
  return scaledSum(BinaryOp.sub, b, self, notComplex(alpha), out)
}

export function mul_out(self: Operand, other: AnyOperand, out?: Tensor): Tensor {
  if (anyComplex(self, other)) return complexProduct(realArithmetic, self, other, out)
  const b = notComplex(other)
  plainPair('mul', self, b)
  const common = promotePair(self, b)
  return runBinary(BinaryOp.mul, self, b, common, common, out)
}

/** True division: integers give float32. */
export function div_out(self: Operand, other: AnyOperand, out?: Tensor): Tensor {
  if (anyComplex(self, other)) return complexQuotient(realArithmetic, self, other, out)
  const b = notComplex(other)
  plainPair('div', self, b)
  const type = toFloating(promotePair(self, b))
  return runBinary(BinaryOp.div, self, b, type, type, out)
}

export const maximum_out = keeping('maximum', BinaryOp.maximum, anyType)
export const minimum_out = keeping('minimum', BinaryOp.minimum, anyType)

/** self ^ exponent. Integers to negative integer numbers are an error. */
export function pow_out(base: AnyOperand, power: AnyOperand, out?: Tensor): Tensor {
  if (anyComplex(base, power)) return complexPower(base, power, out)
  const [self, exponent] = [notComplex(base), notComplex(power)]
  plainPair('pow', self, exponent)
  if (out !== undefined && exponent instanceof Tensor && !(self instanceof Tensor) && scalarToNumber(self) === 1) {
    resizeOut(out, exponent.shape)
    fillScalar(out, 1)
    return out
  }
  const common = promotePair(self, exponent)
  if (common === DType.bool) {
    if (self instanceof Tensor && exponent instanceof Tensor) notFor('pow', common)
    return powOf(self, exponent, DType.int64, out)
  }
  return powOf(self, exponent, common, out)
}

export function powOf(self: Operand, exponent: Operand, common: DType, out: Tensor | undefined): Tensor {
  if (self instanceof Tensor && !(exponent instanceof Tensor)) {
    checkSameType('pow', out, common)
    checkInRange(common, exponent)
    const known = powOfNumber(self, scalarToNumber(exponent), common, out)
    if (known !== null) return known
  }
  return runBinary(BinaryOp.pow, self, exponent, common, common, out)
}

/** Powers that a cheaper operation gives exactly; null for the others. */
function powOfNumber(self: Tensor, exponent: number, common: DType, out: Tensor | undefined): Tensor | null {
  const unary = (op: number): Tensor => runUnary(kernels.unary, op, self, common, computeFor(common), out)
  if (!isFloating(common)) {
    check(exponent >= 0, () => 'integers to negative integer powers are not allowed')
    return exponent === 2 ? unary(UnaryOp.square) : null
  }
  switch (exponent) {
    case 0: {
      const result = resultTensor(out, self.shape, common, [self])
      fillScalar(result, 1)
      return result
    }
    case 1:
      return unary(UnaryOp.identity)
    case 2:
      return unary(UnaryOp.square)
    case 0.5:
      return unary(UnaryOp.sqrt)
    case -0.5:
      return unary(UnaryOp.rsqrt)
    case -1:
      return unary(UnaryOp.reciprocal)
    default:
      return null
  }
}

// The overloads that take numbers have no structured form in PyTorch: a functional and an in-place function each.

export function add(self: Tensor, other: AnyOperand, alpha: AnyScalar): Tensor {
  return add_out(self, other, alpha)
}
export function add_(self: Tensor, other: AnyOperand, alpha: AnyScalar): Tensor {
  return add_out(self, other, alpha, self)
}

export function sub(self: Tensor, other: AnyOperand, alpha: AnyScalar): Tensor {
  return sub_out(self, other, alpha)
}
export function sub_(self: Tensor, other: AnyOperand, alpha: AnyScalar): Tensor {
  return sub_out(self, other, alpha, self)
}

export function rsub(self: Tensor, other: AnyOperand, alpha: AnyScalar): Tensor {
  return rsub_out(self, other, alpha)
}

export function mul(self: Tensor, other: AnyOperand): Tensor {
  return mul_out(self, other)
}
export function mul_(self: Tensor, other: AnyOperand): Tensor {
  return mul_out(self, other, self)
}

export function div(self: Tensor, other: AnyOperand): Tensor {
  return div_out(self, other)
}
export function div_(self: Tensor, other: AnyOperand): Tensor {
  return div_out(self, other, self)
}
