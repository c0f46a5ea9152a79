import { div_out, maximum_out } from './binary.js'
import { eq_out } from './comparison.js'
import { partOf } from '../../tensor/complex.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isComplex, isFloating } from '../../tensor/dtype.js'
import { emptyLike } from '../../tensor/iterator.js'
import { Float } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { cloneOf, laidOutLike } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import { checkPlain, checkSameType, computeFor, notFor, runBinary, runUnary } from './support/elementwise.js'
import { asking, askingEither, copied, keeping, rounding } from './support/unary.js'
import { abs_out, neg_out, round_out } from './unary.js'

const UnaryOp = kernels.UnaryOp

export const sign_out = keeping('sign', UnaryOp.sign, true)

/** torch.sgn: sign, and of a complex tensor z / |z|, where that is 0 / 0 zero. */
export function sgn_out(self: Tensor, out?: Tensor): Tensor {
  if (!isComplex(self.type)) return sign_out(self, out)
  const size = abs_out(self)
  return writeOut(div_out(self, maximum_out(size, eq_out(size, 0))), out)
}

export const floor_out = rounding('floor', UnaryOp.floor)
export const ceil_out = rounding('ceil', UnaryOp.ceil)
export const trunc_out = rounding('trunc', UnaryOp.trunc)
export const isinf = askingEither('isinf', UnaryOp.isinf)
export const isposinf_out = asking('isposinf', UnaryOp.isposinf)
export const isneginf_out = asking('isneginf', UnaryOp.isneginf)

export function frac_out(self: Tensor, out?: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('frac', self.type)
  checkSameType('frac', out, self.type)
  return runUnary(kernels.unary, UnaryOp.frac, self, self.type, computeFor(self.type), out)
}

/** Real tensors are their own conjugates. */
export function conj_physical_out(self: Tensor, out?: Tensor): Tensor {
  if ((out === undefined || out === self) && !isComplex(self.type)) return self
  checkSameType('conj_physical', out, self.type)
  return conjugated(copied(self, out))
}

export function _conj_physical(self: Tensor): Tensor {
  return conjugated(cloneOf(self))
}

/** In place. */
function conjugated(t: Tensor): Tensor {
  if (isComplex(t.type)) neg_out(partOf(t, 1), partOf(t, 1))
  return t
}

export function signbit_out(self: Tensor, out?: Tensor): Tensor {
  checkPlain('signbit', self)
  if (out !== self) checkSameType('signbit', out, DType.bool)
  return runUnary(kernels.unary, UnaryOp.signbit, self, DType.bool, computeFor(self.type), out)
}

/** To `decimals` places after the point, before it where negative; ties to even. */
export function round_decimals_out(self: Tensor, decimals: number, out?: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('round with decimals', self.type)
  checkSameType('round', out, self.type)
  if (decimals === 0) return round_out(self, out)
  if (self.type === DType.float16 || self.type === DType.bfloat16) return roundNarrow(self, decimals, out)
  const compute = computeFor(self.type)
  return runUnary(kernels.unary, UnaryOp.round_decimals, self, self.type, compute, out, 10 ** Math.abs(decimals), decimals < 0 ? 1 : 0)
}

/** In the 16-bit types every step is rounded to the type. */
function roundNarrow(self: Tensor, decimals: number, out: Tensor | undefined): Tensor {
  const { mul, div } = kernels.BinaryOp
  const factor = new Float(10 ** Math.abs(decimals))
  const moved = round_out(runBinary(decimals > 0 ? mul : div, self, factor, self.type, self.type, undefined))
  return runBinary(decimals > 0 ? div : mul, moved, factor, self.type, self.type, out)
}

const LARGEST: Partial<Record<DType, number>> = {
  [DType.float16]: 65504,
  [DType.bfloat16]: 3.3895313892515355e38,
  [DType.float32]: 3.4028234663852886e38,
  [DType.float64]: Number.MAX_VALUE,
}

/** Infinities become the largest and smallest finite numbers of the dtype where no other is given. */
export function nan_to_num_out(self: Tensor, nan: number | null, posinf: number | null, neginf: number | null, out?: Tensor): Tensor {
  checkPlain('nan_to_num', self)
  checkSameType('nan_to_num', out, self.type)
  const largest = LARGEST[self.type]
  if (largest === undefined) return copied(self, out)
  const result = runUnary(
    kernels.unary,
    UnaryOp.nan_to_num,
    self,
    self.type,
    computeFor(self.type),
    out,
    nan ?? 0,
    posinf ?? largest,
    neginf ?? -largest,
  )
  return out === undefined ? laidOutLike(result, self) : result
}

/** Mantissas in [0.5, 1) and int32 exponents: self = mantissa * 2^exponent. */
export function frexp_out(self: Tensor, mantissa?: Tensor, exponent?: Tensor): [Tensor, Tensor] {
  if (!isFloating(self.type)) notFor('frexp', self.type)
  checkSameType('frexp', mantissa, self.type)
  checkSameType('frexp', exponent, DType.int32)
  const compute = computeFor(self.type)
  const like = (type: DType, out: Tensor | undefined): Tensor => out ?? emptyLike(self, type)
  const exponents = runUnary(kernels.unary, UnaryOp.frexp_exponent, self, DType.int32, compute, like(DType.int32, exponent))
  return [runUnary(kernels.unary, UnaryOp.frexp_mantissa, self, self.type, compute, like(self.type, mantissa)), exponents]
}
