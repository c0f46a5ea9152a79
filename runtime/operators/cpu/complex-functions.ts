import * as kernels from '../../native/generated/kernels.js'
import { ComplexOp } from '../../native/generated/kernels.js'
import { partOf, viewAsComplex, viewAsReal } from '../../tensor/complex.js'
import { type AnyOperand, promoteAny } from '../../tensor/promote.js'
import { complexOf, DType, realOf } from '../../tensor/dtype.js'
import { type AnyScalar, Complex, scalarToNumber } from '../../tensor/scalar.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { empty, Tensor } from '../../tensor/tensor.js'
import { castTo, cloneOf, contiguousOf, copyInto } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { fillScalar } from '../support/fill.js'
import { expandTo } from '../support/make.js'

/** Functions of complex numbers that are more than arithmetic on their parts. */

function emptyComplex(shape: readonly number[], type: DType): Tensor {
  return viewAsComplex(empty([...shape, 2], realOf(type)))
}

const isWide = (t: Tensor): number => (realOf(t.type) === DType.float64 ? 1 : 0)

/** A function of a complex tensor, element by element; a complex result of the same precision. */
export function complexFunction(op: number, self: Tensor, out?: Tensor): Tensor {
  const input = contiguousOf(self)
  const result = emptyComplex(self.shape, self.type)
  kernels.complex_unary({ op, wide: isWide(self), n: self.numel, in: input.address, out: result.address })
  return writeOut(result, out)
}

/** A function of two operands, one of them complex, element by element. */
export function complexPair(op: keyof typeof kernels.ComplexBinaryOp, a: AnyOperand, b: AnyOperand, type: DType): Tensor {
  const shape = broadcastShapes(a instanceof Tensor ? a.shape : [], b instanceof Tensor ? b.shape : [])
  const dense = (x: AnyOperand): Tensor => contiguousOf(expandTo(x instanceof Tensor ? castTo(x, type) : filledWith([], x, type), shape))
  const [x, y] = [dense(a), dense(b)]
  const result = emptyComplex(shape, type)
  kernels.complex_binary({
    op: kernels.ComplexBinaryOp[op],
    wide: isWide(result),
    n: result.numel,
    a: x.address,
    b: y.address,
    out: result.address,
  })
  return result
}

function filledWith(shape: readonly number[], value: AnyScalar, type: DType): Tensor {
  const t = emptyComplex(shape, type)
  fillScalar(t, value)
  return t
}

export function complexLogAddExp(a: Tensor, b: Tensor, out?: Tensor): Tensor {
  return writeOut(complexPair('logaddexp', a, b, promoteAny([a, b])), out)
}

/** Powers that are exact, or cheaper, otherwise than by logarithms: the operations that give them, one after the other. */
const POWERS: Readonly<Record<number, readonly number[]>> = {
  0.5: [ComplexOp.sqrt],
  2: [ComplexOp.square],
  3: [ComplexOp.cube],
  [-0.5]: [ComplexOp.rsqrt],
  [-1]: [ComplexOp.reciprocal],
  [-2]: [ComplexOp.square, ComplexOp.reciprocal],
}

/** self ^ exponent where one of them is complex, or `type` is. */
export function complexPower(self: AnyOperand, exponent: AnyOperand, out?: Tensor, type = promoteAny([self, exponent])): Tensor {
  if (!(self instanceof Tensor) && !(self instanceof Complex) && scalarToNumber(self) === 1) {
    return writeOut(filledWith((exponent as Tensor).shape, 1, type), out)
  }
  const power = realNumber(exponent)
  if (!(self instanceof Tensor) || power === null) return writeOut(complexPair('pow', self, exponent, type), out)
  if (power === 0) return writeOut(filledWith(self.shape, 1, type), out)
  const base = castTo(self, type)
  if (power === 1) return writeOut(cloneOf(base), out)
  const steps = POWERS[power]
  if (steps === undefined) return writeOut(complexPair('pow', base, power, type), out)
  return writeOut(
    steps.reduce((x, op) => complexFunction(op, x), base),
    out,
  )
}

function realNumber(x: AnyOperand): number | null {
  if (x instanceof Tensor) return null
  if (x instanceof Complex) return x.im === 0 ? x.re : null
  return scalarToNumber(x)
}

/** Products, running products or running logarithms of sums of exponentials along the last dimension. */
export function complexFold(op: keyof typeof kernels.ComplexFold, self: Tensor): Tensor {
  const count = self.shape[self.dim - 1]!
  const rows = self.shape.slice(0, -1)
  const input = contiguousOf(self)
  const result = emptyComplex(op === 'prod' ? rows : self.shape, self.type)
  const wide = isWide(self)
  if (result.numel > 0) {
    const n = op === 'prod' ? result.numel : result.numel / count
    kernels.complex_fold({ op: kernels.ComplexFold[op], wide, rows: n, count, in: input.address, out: result.address })
  }
  return result
}

/** What `f` makes of the real parts, and of the imaginary ones, as one complex tensor. */
export function onParts(self: Tensor, f: (part: Tensor) => Tensor): Tensor {
  const [re, im] = [f(partOf(self, 0)), f(partOf(self, 1))]
  const result = emptyComplex(re.shape, complexOf(re.type))
  copyInto(partOf(result, 0), re)
  copyInto(partOf(result, 1), im)
  return result
}

/** What `f` makes of the pairs of parts, which stand along the last dimension, as one complex tensor. */
export function onPairs(self: Tensor, f: (pairs: Tensor) => Tensor): Tensor {
  return viewAsComplex(contiguousOf(f(viewAsReal(self))))
}
