import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { DType, isComplex, realOf } from '../../tensor/dtype.js'
import type { Operand } from '../../tensor/promote.js'
import type { Scalar } from '../../tensor/scalar.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { empty, Tensor } from '../../tensor/tensor.js'
import { unsqueeze } from '../../tensor/view.js'
import { castTo, copyInto } from './support/copy.js'
import { deliver } from './support/deliver.js'

/** Sums, products and quotients where an operand is complex, made of real ones on the parts. */

export function isComplexOperand(x: Operand): boolean {
  return x instanceof Tensor && isComplex(x.type)
}

/** The real operators, which ./binary.ts hands over. */
export interface RealArithmetic {
  readonly add: (a: Operand, b: Operand, alpha: Scalar, out?: Tensor) => Tensor
  readonly sub: (a: Operand, b: Operand, alpha: Scalar, out?: Tensor) => Tensor
  readonly mul: (a: Operand, b: Operand, out?: Tensor) => Tensor
  readonly div: (a: Operand, b: Operand, out?: Tensor) => Tensor
}

/** complex128 where a complex operand, or a real one with dimensions, is of double precision; 0-d tensors count only alone. */
function commonType(a: Operand, b: Operand): DType {
  const tensors = [a, b].filter((x) => x instanceof Tensor)
  const shaped = tensors.filter((t) => t.dim > 0)
  const deciding = shaped.some((t) => isComplex(t.type)) ? shaped : tensors
  return deciding.some((t) => realOf(t.type) === DType.float64) ? DType.complex128 : DType.complex64
}

/** The operand in the precision of `type`: complex tensors in it, others as reals of half its size; numbers stay. */
function inPrecision(x: Operand, type: DType): Operand {
  if (!(x instanceof Tensor)) return x
  return castTo(x, isComplex(x.type) ? type : realOf(type))
}

/** A real operand that goes with pairs: every element twice. */
function withPairs(x: Operand): Operand {
  return x instanceof Tensor ? unsqueeze(x, -1) : x
}

function shapeOf(a: Operand, b: Operand): number[] {
  return [...broadcastShapes(a instanceof Tensor ? a.shape : [], b instanceof Tensor ? b.shape : [])]
}

/** a + alpha * b, or a - alpha * b. */
export function complexSum(real: RealArithmetic, subtract: boolean, a: Operand, b: Operand, alpha: Scalar, out?: Tensor): Tensor {
  const type = commonType(a, b)
  const sum = subtract ? real.sub : real.add
  const [x, y] = [inPrecision(a, type), inPrecision(b, type)]
  if (isComplexOperand(x) && isComplexOperand(y)) {
    return deliver(viewAsComplex(sum(viewAsReal(x as Tensor), viewAsReal(y as Tensor), alpha)), out)
  }
  const result = viewAsComplex(empty([...shapeOf(a, b), 2], realOf(type)))
  const part = (t: Operand, index: 0 | 1): Operand => (isComplexOperand(t) ? partOf(t as Tensor, index) : index === 0 ? t : 0)
  copyInto(partOf(result, 0), sum(part(x, 0), part(y, 0), alpha))
  copyInto(partOf(result, 1), sum(part(x, 1), part(y, 1), alpha))
  return deliver(result, out)
}

export function complexProduct(real: RealArithmetic, a: Operand, b: Operand, out?: Tensor): Tensor {
  const type = commonType(a, b)
  const [x, y] = [inPrecision(a, type), inPrecision(b, type)]
  if (!isComplexOperand(x)) return deliver(viewAsComplex(real.mul(viewAsReal(y as Tensor), withPairs(x))), out)
  if (!isComplexOperand(y)) return deliver(viewAsComplex(real.mul(viewAsReal(x as Tensor), withPairs(y))), out)
  return deliver(productOf(real, x as Tensor, y as Tensor), out)
}

/** (a + bi)(c + di) */
function productOf(real: RealArithmetic, x: Tensor, y: Tensor): Tensor {
  const [a, b, c, d] = [partOf(x, 0), partOf(x, 1), partOf(y, 0), partOf(y, 1)]
  const result = viewAsComplex(empty([...broadcastShapes(x.shape, y.shape), 2], a.type))
  real.sub(real.mul(a, c), real.mul(b, d), 1, partOf(result, 0))
  real.add(real.mul(a, d), real.mul(b, c), 1, partOf(result, 1))
  return result
}

export function complexQuotient(real: RealArithmetic, a: Operand, b: Operand, out?: Tensor): Tensor {
  const type = commonType(a, b)
  const [x, y] = [inPrecision(a, type), inPrecision(b, type)]
  if (!isComplexOperand(y)) return deliver(viewAsComplex(real.div(viewAsReal(x as Tensor), withPairs(y))), out)
  const divisor = y as Tensor
  const [c, d] = [partOf(divisor, 0), partOf(divisor, 1)]
  const square = real.add(real.mul(c, c), real.mul(d, d), 1)
  const inverse = viewAsComplex(empty([...divisor.shape, 2], c.type))
  real.div(c, square, partOf(inverse, 0))
  real.div(real.mul(d, -1), square, partOf(inverse, 1))
  const product = isComplexOperand(x) ? productOf(real, x as Tensor, inverse) : viewAsComplex(real.mul(viewAsReal(inverse), withPairs(x)))
  return deliver(product, out)
}
