import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { type AnyOperand, notComplex, type Operand, promotePair } from '../../tensor/promote.js'
import { Tensor } from '../../tensor/tensor.js'
import { notFor, runBinary } from './support/elementwise.js'
import { plainPair } from './support/binary.js'
import { div_out } from './binary.js'

const BinaryOp = kernels.BinaryOp

/** Arithmetic on two operands with broadcasting and type promotion; an operand may be a number. */
type Binary = (self: Tensor, other: Operand, out?: Tensor) => Tensor

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
