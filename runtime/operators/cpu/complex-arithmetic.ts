import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { BinaryOp, TernaryOp, UnaryOp } from '../../native/generated/kernels.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { type AnyOperand, isComplexOperand, type Operand, promoteAny } from '../../tensor/promote.js'
import { DType, isComplex, realOf } from '../../tensor/dtype.js'
import { type AnyScalar, Complex, Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { empty, Tensor } from '../../tensor/tensor.js'
import { unsqueeze } from '../../tensor/view.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { writeOut, writeOutExact } from '../support/write-out.js'
import { computeFor, runBinary, runTernary, runUnary } from './support/elementwise.js'
import { fillScalar } from '../support/fill.js'

/** Sums, products, quotients and comparisons where an operand is complex, made of real ones on the parts. */

/** The real operators, which ./binary.ts hands over. */
export interface RealArithmetic {
  readonly add: (a: Operand, b: Operand, alpha: Scalar, out?: Tensor) => Tensor
  readonly sub: (a: Operand, b: Operand, alpha: Scalar, out?: Tensor) => Tensor
  readonly mul: (a: Operand, b: Operand, out?: Tensor) => Tensor
  readonly div: (a: Operand, b: Operand, out?: Tensor) => Tensor
}

/** The operand in the precision of `type`: complex tensors and numbers as tensors of it, other tensors as reals of half its size; other numbers stay. */
function inPrecision(x: AnyOperand, type: DType): Operand {
  if (x instanceof Complex) return tensorOf(x, type)
  if (!(x instanceof Tensor)) return x
  return castTo(x, isComplex(x.type) ? type : realOf(type))
}

function tensorOf(x: AnyScalar, type: DType): Tensor {
  const t = empty([], type)
  fillScalar(t, x)
  return t
}

/** A real operand that goes with pairs: every element twice. */
function withPairs(x: Operand): Operand {
  return x instanceof Tensor ? unsqueeze(x, -1) : x
}

function shapeOf(a: AnyOperand, b: AnyOperand): number[] {
  return [...broadcastShapes(a instanceof Tensor ? a.shape : [], b instanceof Tensor ? b.shape : [])]
}

/** a + alpha * b, or a - alpha * b. */
export function complexSum(real: RealArithmetic, subtract: boolean, a: AnyOperand, b: AnyOperand, alpha: AnyScalar, out?: Tensor): Tensor {
  check(typeof alpha !== 'boolean', () => 'a bool alpha is only for bool results')
  const type = promoteAny([a, b])
  check(isComplex(type) || !(alpha instanceof Complex), () => 'for operands that are not complex alpha must not be a complex number')
  if (alpha instanceof Complex) return complexSum(real, subtract, a, productOf(real, inPrecision(b, type), tensorOf(alpha, type)), 1, out)
  const sum = subtract ? real.sub : real.add
  const [x, y] = [inPrecision(a, type), inPrecision(b, type)]
  if (isComplexOperand(x) && isComplexOperand(y)) {
    return writeOut(viewAsComplex(sum(viewAsReal(x), viewAsReal(y), alpha)), out)
  }
  const result = viewAsComplex(empty([...shapeOf(a, b), 2], realOf(type)))
  const part = (t: Operand, index: 0 | 1): Operand => (isComplexOperand(t) ? partOf(t, index) : index === 0 ? t : 0)
  copyInto(partOf(result, 0), sum(part(x, 0), part(y, 0), alpha))
  copyInto(partOf(result, 1), sum(part(x, 1), part(y, 1), alpha))
  return writeOut(result, out)
}

export function complexProduct(real: RealArithmetic, a: AnyOperand, b: AnyOperand, out?: Tensor): Tensor {
  const type = promoteAny([a, b])
  return writeOut(productOf(real, inPrecision(a, type), inPrecision(b, type)), out)
}

function productOf(real: RealArithmetic, x: Operand, y: Operand): Tensor {
  if (!isComplexOperand(x)) return viewAsComplex(real.mul(viewAsReal(y as Tensor), withPairs(x)))
  if (!isComplexOperand(y)) return viewAsComplex(real.mul(viewAsReal(x), withPairs(y)))
  // (a + bi)(c + di)
  const [a, b, c, d] = [partOf(x, 0), partOf(x, 1), partOf(y, 0), partOf(y, 1)]
  const result = viewAsComplex(empty([...broadcastShapes(x.shape, y.shape), 2], a.type))
  real.sub(real.mul(a, c), real.mul(b, d), 1, partOf(result, 0))
  real.add(real.mul(a, d), real.mul(b, c), 1, partOf(result, 1))
  return result
}

export function complexQuotient(real: RealArithmetic, a: AnyOperand, b: AnyOperand, out?: Tensor): Tensor {
  const type = promoteAny([a, b])
  const [x, y] = [inPrecision(a, type), inPrecision(b, type)]
  if (!isComplexOperand(y)) return writeOut(viewAsComplex(real.div(viewAsReal(x as Tensor), withPairs(y))), out)
  return writeOut(quotientOf(real, x, y), out)
}

/**
 * (a + bi) / (c + di) by R. L. Smith's method: the smaller part of the divisor is divided by the larger one, so that no square overflows.
 * A divisor of 0 gives infinities, and NaN for 0 / 0.
 */
function quotientOf(real: RealArithmetic, x: Operand, divisor: Tensor): Tensor {
  const [c, d] = [partOf(divisor, 0), partOf(divisor, 1)]
  const type = c.type
  const size = (t: Tensor): Tensor => runUnary(kernels.unary, UnaryOp.abs, t, type, computeFor(type), undefined)
  const isRealLarger = runBinary(BinaryOp.ge, size(c), size(d), type, DType.bool, undefined)
  const either = (t: Operand, f: Operand): Tensor => runTernary(TernaryOp.where, isRealLarger, t, f, type, undefined)
  const [large, small] = [either(c, d), either(d, c)]
  const isZero = runBinary(BinaryOp.eq, large, 0, type, DType.bool, undefined)
  const ratio = runTernary(TernaryOp.where, isZero, 0, real.div(small, large), type, undefined)
  const scale = real.div(new Float(1), real.add(large, real.mul(small, ratio), 1))
  const sign = either(new Float(1), new Float(-1))
  const [re, im]: Operand[] = isComplexOperand(x) ? [partOf(x, 0), partOf(x, 1)] : [x, new Float(0)]
  const [p, q] = [either(re!, im!), either(im!, re!)]
  const result = viewAsComplex(empty([...shapeOf(x, divisor), 2], type))
  real.mul(real.add(p, real.mul(q, ratio), 1), scale, partOf(result, 0))
  real.mul(real.mul(real.sub(q, real.mul(p, ratio), 1), scale), sign, partOf(result, 1))
  return result
}

/** Both parts equal, or not (`negate`); bool. */
export function complexEqual(negate: boolean, a: AnyOperand, b: AnyOperand, out?: Tensor): Tensor {
  const type = promoteAny([a, b])
  const [x, y] = [asComplex(a, type), asComplex(b, type)]
  const half = (index: 0 | 1): Tensor =>
    runBinary(negate ? BinaryOp.ne : BinaryOp.eq, partOf(x, index), partOf(y, index), realOf(type), DType.bool, undefined)
  const join = negate ? BinaryOp.logical_or : BinaryOp.logical_and
  return writeOut(runBinary(join, half(0), half(1), DType.bool, DType.bool, undefined), out)
}

/** What is linear in either of two complex operands, `f` on real ones; `addend` goes with the product of the first parts. */
export function complexBilinear(
  f: (a: Tensor, b: Tensor, addend: Tensor | null) => Tensor,
  a: Tensor,
  b: Tensor,
  addend: Tensor | null,
): Tensor {
  const [ar, ai, br, bi] = [partOf(a, 0), partOf(a, 1), partOf(b, 0), partOf(b, 1)]
  const added = (index: 0 | 1): Tensor | null => addend && partOf(addend, index)
  const re = f(ar, br, added(0))
  const result = viewAsComplex(empty([...re.shape, 2], re.type))
  runBinary(BinaryOp.sub, re, f(ai, bi, null), re.type, re.type, partOf(result, 0))
  runBinary(BinaryOp.add, f(ar, bi, added(1)), f(ai, br, null), re.type, re.type, partOf(result, 1))
  return result
}

/** Which numbers are not 0; what is not complex is its own truth. */
export function complexTruth(t: Tensor): Tensor {
  return isComplex(t.type) ? complexEqual(true, t, 0) : t
}

/** a + weight (b - a), from the end that is nearer to the result. */
export function complexLerp(real: RealArithmetic, a: Tensor, b: Tensor, weight: AnyOperand, out?: Tensor): Tensor {
  const distance = complexSum(real, true, b, a, 1)
  const rest = (): Tensor =>
    weight instanceof Tensor ? complexSum(real, true, tensorOf(1, a.type), weight, 1) : tensorOf(oneMinus(weight), a.type)
  const fromStart = (): Tensor => complexSum(real, false, a, complexProduct(real, distance, weight), 1)
  const fromEnd = (): Tensor => complexSum(real, true, b, complexProduct(real, distance, rest()), 1)
  if (!(weight instanceof Tensor)) return writeOut(isSmall(weight) ? fromStart() : fromEnd(), out)
  const w = castTo(weight, a.type)
  const square = (index: 0 | 1): Tensor => real.mul(partOf(w, index), partOf(w, index))
  const isNear = runBinary(BinaryOp.lt, real.add(square(0), square(1), 1), new Float(0.25), realOf(a.type), DType.bool, undefined)
  return writeOut(complexWhere(isNear, fromStart(), fromEnd()), out)
}

function partsOf(x: AnyScalar): [number, number] {
  return x instanceof Complex ? [x.re, x.im] : [scalarToNumber(x), 0]
}

function isSmall(weight: AnyScalar): boolean {
  const [re, im] = partsOf(weight)
  return re * re + im * im < 0.25
}

function oneMinus(weight: AnyScalar): Complex {
  const [re, im] = partsOf(weight)
  return new Complex(1 - re, -im)
}

/** Elements of a where condition is true, of b elsewhere. */
export function complexWhere(condition: Tensor, a: AnyOperand, b: AnyOperand, out?: Tensor): Tensor {
  const type = promoteAny([a, b])
  const pairs = (x: AnyOperand): Tensor => viewAsReal(asComplex(x, type))
  const chosen = runTernary(TernaryOp.where, unsqueeze(condition, -1), pairs(a), pairs(b), realOf(type), undefined)
  // a broadcast condition may leave the pairs apart
  return writeOutExact(viewAsComplex(contiguousOf(chosen)), out, 'where')
}

/** Any operand as a tensor of the complex dtype `type`. */
function asComplex(x: AnyOperand, type: DType): Tensor {
  return x instanceof Tensor ? castTo(x, type) : tensorOf(x, type)
}
