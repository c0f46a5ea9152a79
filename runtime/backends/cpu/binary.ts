import { check } from '../../error.js'
import { HOLDS_COMPLEX, HOLDS_HALVES, HOLDS_SCALARS } from '../../held.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating, isIntegral } from '../../tensor/dtype.js'
import { resizeOut, resultTensor } from '../../tensor/iterator.js'
import { type AnyOperand, isComplexOperand, notComplex } from '../../tensor/complex-promote.js'
import { type Operand, promotePair, toFloating } from '../../tensor/promote.js'
import { type AnyScalar, Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { checkInRange } from '../../tensor/scalar-bits.js'
import { Tensor } from '../../tensor/tensor.js'
import { noteUse } from '../../used.js'
import { absentScalar, checkPlain, checkSameType, computeFor, notFor, runBinary, runUnary, scalarAs } from './support/elementwise.js'
import { complexProduct, complexQuotient, complexSum, type RealArithmetic } from './complex-arithmetic.js'
import { fillScalar } from '../support/fill.js'

/** Arithmetic on two operands with broadcasting and type promotion; an operand may be a number. */
type Binary = (self: Tensor, other: Operand, out?: Tensor) => Tensor

const BinaryOp = kernels.BinaryOp
const UnaryOp = kernels.UnaryOp

function plainPair(name: string, a: Operand, b: Operand): void {
  if (a instanceof Tensor) checkPlain(name, a)
  if (b instanceof Tensor) checkPlain(name, b)
}

function isBool(x: AnyOperand): boolean {
  return x instanceof Tensor ? x.type === DType.bool : typeof x === 'boolean'
}

/** The factor of the second operand: a float needs a floating result, a bool a bool one. */
function alphaFor(alpha: Scalar, common: DType): number {
  if (alpha === 1) return 1
  check(common === DType.bool || typeof alpha !== 'boolean', () => 'a bool alpha is only for bool results')
  check(isFloating(common) || !(alpha instanceof Float), () => 'for integer inputs alpha must not be a float')
  noteUse('scalars')
  return HOLDS_SCALARS ? scalarToNumber(scalarAs(alpha, common)) : absentScalar()
}

/** a op alpha * b. float16 rounds the product as PyTorch does, other dtypes once. */
function scaledSum(op: number, a: Operand, b: Operand, alpha: Scalar, out: Tensor | undefined): Tensor {
  const common = promotePair(a, b)
  const factor = alphaFor(alpha, common)
  if (HOLDS_HALVES && factor !== 1 && common === DType.float16) {
    const product =
      b instanceof Tensor ? runBinary(BinaryOp.mul, b, new Float(factor), common, common, undefined) : new Float(scalarToNumber(b) * factor)
    return runBinary(op, a, product, common, common, out)
  }
  return runBinary(op, a, b, common, common, out, factor)
}

const realArithmetic: RealArithmetic = {
  add: (a, b, alpha, out) => scaledSum(BinaryOp.add, a, b, alpha, out),
  sub: (a, b, alpha, out) => scaledSum(BinaryOp.sub, a, b, alpha, out),
  mul: (a, b, out) => mul_out(a, b, out),
  div: (a, b, out) => div_out(a, b, out),
}

function anyComplex(a: AnyOperand, b: AnyOperand): boolean {
  return isComplexOperand(a) || isComplexOperand(b)
}

export function add_out(self: Tensor, other: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  if (HOLDS_COMPLEX && anyComplex(self, other)) return complexSum(realArithmetic, false, self, other, alpha, out)
  const b = notComplex(other)
  plainPair('add', self, b)
  return scaledSum(BinaryOp.add, self, b, notComplex(alpha), out)
}

export function sub_out(self: Tensor, other: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  check(!isBool(self) && !isBool(other), () => 'sub does not take bool tensors; use logical_xor or logical_not')
  if (HOLDS_COMPLEX && anyComplex(self, other)) return complexSum(realArithmetic, true, self, other, alpha, out)
  const b = notComplex(other)
  plainPair('sub', self, b)
  return scaledSum(BinaryOp.sub, self, b, notComplex(alpha), out)
}

/** other - alpha * self */
function rsub_out(self: Tensor, other: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  check(self.type !== DType.bool && !(other instanceof Tensor && isBool(other)), () => 'rsub does not take bool tensors')
  if (HOLDS_COMPLEX && anyComplex(self, other)) return complexSum(realArithmetic, true, other, self, alpha, out)
  const b = notComplex(other)
  plainPair('rsub', self, b)
  return scaledSum(BinaryOp.sub, b, self, notComplex(alpha), out)
}

export function mul_out(self: Operand, other: AnyOperand, out?: Tensor): Tensor {
  if (HOLDS_COMPLEX && anyComplex(self, other)) return complexProduct(realArithmetic, self, other, out)
  const b = notComplex(other)
  plainPair('mul', self, b)
  const common = promotePair(self, b)
  return runBinary(BinaryOp.mul, self, b, common, common, out)
}

/** True division: integers give float32. */
export function div_out(self: Operand, other: AnyOperand, out?: Tensor): Tensor {
  if (HOLDS_COMPLEX && anyComplex(self, other)) return complexQuotient(realArithmetic, self, other, out)
  const b = notComplex(other)
  plainPair('div', self, b)
  const type = toFloating(promotePair(self, b))
  return runBinary(BinaryOp.div, self, b, type, type, out)
}

/** `rounding_mode` null divides truly, 'trunc' rounds toward zero, 'floor' down. */
export function div_mode_out(self: Tensor, divisor: AnyOperand, mode: string | null, out?: Tensor): Tensor {
  if (mode === null) return div_out(self, divisor, out)
  const other = notComplex(divisor)
  check(mode === 'trunc' || mode === 'floor', () => `div expects rounding_mode 'trunc', 'floor' or None, found '${mode}'`)
  plainPair('div', self, other)
  const common = promotePair(self, other)
  if (common === DType.bool) notFor('div with a rounding mode', common)
  if (mode === 'floor') return runBinary(BinaryOp.div_floor, self, other, common, common, out)
  // in the 16-bit types the quotient is rounded to the type first
  if (common === DType.float16 || common === DType.bfloat16) {
    const quotient = runBinary(BinaryOp.div, self, other, common, common, undefined)
    return runBinary(BinaryOp.div_trunc, quotient, 1, common, common, out)
  }
  return runBinary(BinaryOp.div_trunc, self, other, common, common, out)
}

export const floor_divide_out = dividing('floor_divide', BinaryOp.div_floor)

/** Integers by zero are an error; two bools have no quotient. */
function dividing(name: string, op: number): Binary {
  return (self, other, out) => {
    plainPair(name, self, other)
    const common = promotePair(self, other)
    if (common === DType.bool) notFor(name, common)
    return runBinary(op, self, other, common, common, out)
  }
}

/** A wrapped bool counts as an integer in the remainder operators. */
function remainderOf(name: string, op: number): (self: Operand, other: Operand, out?: Tensor) => Tensor {
  return (self, other, out) => {
    plainPair(name, self, other)
    let common = promotePair(self, other)
    if (common === DType.bool) {
      if (self instanceof Tensor && other instanceof Tensor) notFor(name, common)
      common = DType.int64
    }
    return runBinary(op, self, other, common, common, out)
  }
}

export const remainder_out = remainderOf('remainder', BinaryOp.remainder)
export const fmod_out = remainderOf('fmod', BinaryOp.fmod)

/** A function on the reals: integers and bools give float32. */
function real(name: string, op: number): (self: Operand, other: Operand, out?: Tensor) => Tensor {
  return (self, other, out) => {
    plainPair(name, self, other)
    const type = toFloating(promotePair(self, other))
    return runBinary(op, self, other, type, type, out)
  }
}

export const atan2_out = real('atan2', BinaryOp.atan2)
export const copysign_out = real('copysign', BinaryOp.copysign)
export const xlogy_out = real('xlogy', BinaryOp.xlogy)
export const special_xlog1py_out = real('special_xlog1py', BinaryOp.xlog1py)
export const special_zeta_out = real('special_zeta', BinaryOp.zeta)

/** self * 2^other */
export function ldexp_out(self: Tensor, other: Tensor, out?: Tensor): Tensor {
  return mul_out(self, pow_out(new Float(2), other), out)
}

/** A function that keeps the common dtype. */
function keeping(name: string, op: number, takes: (common: DType) => boolean): (self: Tensor, other: Tensor, out?: Tensor) => Tensor {
  return (self, other, out) => {
    plainPair(name, self, other)
    const common = promotePair(self, other)
    if (!takes(common)) notFor(name, common)
    return runBinary(op, self, other, common, common, out)
  }
}

const anyType = (): boolean => true

export const maximum_out = keeping('maximum', BinaryOp.maximum, anyType)
export const minimum_out = keeping('minimum', BinaryOp.minimum, anyType)
export const fmax_out = keeping('fmax', BinaryOp.fmax, anyType)
export const fmin_out = keeping('fmin', BinaryOp.fmin, anyType)
export const hypot_out = keeping('hypot', BinaryOp.hypot, isFloating)
export const logaddexp_out = keeping('logaddexp', BinaryOp.logaddexp, isFloating)
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
  if (!isFloating(common) || common === DType.float16) notFor('nextafter', common)
  return runBinary(common === DType.bfloat16 ? BinaryOp.nextafter_bf16 : BinaryOp.nextafter, self, other, common, common, out)
}

/** self ^ exponent. Integers to negative integer numbers are an error. */
export function pow_out(self: Operand, exponent: Operand, out?: Tensor): Tensor {
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

function powOf(self: Operand, exponent: Operand, common: DType, out: Tensor | undefined): Tensor {
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

/** pow in float64. In place self must be float64 already. */
export function float_power_out(self: Operand, exponent: Operand, out?: Tensor): Tensor {
  plainPair('float_power', self, exponent)
  const type = DType.float64
  check(out === undefined || out.type === type, () => `float_power writes float64, found an output of dtype ${out!.dtype}`)
  return powOf(self, exponent, type, out)
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

export function floor_divide(self: Tensor, other: Operand): Tensor {
  return floor_divide_out(self, other)
}
export function floor_divide_(self: Tensor, other: Operand): Tensor {
  return floor_divide_out(self, other, self)
}

export function div_mode(self: Tensor, other: AnyOperand, mode: string | null): Tensor {
  return div_mode_out(self, other, mode)
}
export function div_mode_(self: Tensor, other: AnyOperand, mode: string | null): Tensor {
  return div_mode_out(self, other, mode, self)
}

export function remainder(self: Operand, other: Operand): Tensor {
  return remainder_out(self, other)
}
