import * as kernels from '../../native/generated/kernels.js'
import { DType, isComplex, isIntegral } from '../../tensor/dtype.js'
import { anyComplex, type Operand, promotePair } from '../../tensor/promote.js'
import type { Tensor } from '../../tensor/tensor.js'
import { complexTruth } from './complex-arithmetic.js'
import { writeOut } from '../support/write-out.js'
import { checkPlain, computeFor, notFor, runBinary, runUnary } from './support/elementwise.js'
import { denseTruth, type TruthName } from './support/truth.js'

const BinaryOp = kernels.BinaryOp
const UnaryOp = kernels.UnaryOp

/** Truth of elements (anything but 0), whatever their dtypes; bool results. */
function logical(name: string, op: number, truth: TruthName): (self: Tensor, other: Tensor, out?: Tensor) => Tensor {
  return (a, b, out) => {
    if (out !== undefined && isComplex(out.type)) return writeOut(logical(name, op, truth)(a, b), out)
    const [self, other] = anyComplex(a, b) ? [complexTruth(a), complexTruth(b)] : [a, b]
    checkPlain(name, self)
    checkPlain(name, other)
    return denseTruth(truth, self, other, out) ?? runBinary(op, self, other, promotePair(self, other), DType.bool, out)
  }
}

export const logical_and_out = logical('logical_and', BinaryOp.logical_and, 'and')
export const logical_or_out = logical('logical_or', BinaryOp.logical_or, 'or')
export const logical_xor_out = logical('logical_xor', BinaryOp.logical_xor, 'xor')

export function logical_not_out(given: Tensor, out?: Tensor): Tensor {
  if (out !== undefined && isComplex(out.type)) return writeOut(logical_not_out(given), out)
  const self = complexTruth(given)
  checkPlain('logical_not', self)
  return denseTruth('not', self, null, out) ?? runUnary(kernels.unary, UnaryOp.logical_not, self, DType.bool, computeFor(self.type), out)
}

type Bitwise = (self: Operand, other: Operand, out?: Tensor) => Tensor

/** Bits of integers and bools. */
function bitwise(name: string, op: number, truth: TruthName): Bitwise {
  return (self, other, out) => {
    const dense = denseTruth(truth, self, other, out)
    if (dense !== null) return dense
    const common = promotePair(self, other)
    if (!isIntegral(common, true)) notFor(name, common)
    return runBinary(op, self, other, common, common, out)
  }
}

export const bitwise_and_out = bitwise('bitwise_and', BinaryOp.bitwise_and, 'and')
export const bitwise_or_out = bitwise('bitwise_or', BinaryOp.bitwise_or, 'or')
export const bitwise_xor_out = bitwise('bitwise_xor', BinaryOp.bitwise_xor, 'xor')
export const bitwise_left_shift_out = shifting('bitwise_left_shift', BinaryOp.shift_left)
export const bitwise_right_shift_out = shifting('bitwise_right_shift', BinaryOp.shift_right)

/** Counts are taken modulo the width in which a CPU shifts the type: 64 bits for int64, 32 for the others. */
function shifting(name: string, op: number): Bitwise {
  return (self, other, out) => {
    const common = promotePair(self, other)
    if (!isIntegral(common)) notFor(name, common)
    return runBinary(op, self, other, common, common, out, common === DType.int64 ? 63 : 31)
  }
}

export function bitwise_and(self: Operand, other: Operand): Tensor {
  return bitwise_and_out(self, other)
}
export function bitwise_or(self: Operand, other: Operand): Tensor {
  return bitwise_or_out(self, other)
}
export function bitwise_xor(self: Operand, other: Operand): Tensor {
  return bitwise_xor_out(self, other)
}
export function bitwise_and_(self: Tensor, other: Operand): Tensor {
  return bitwise_and_out(self, other, self)
}
export function bitwise_or_(self: Tensor, other: Operand): Tensor {
  return bitwise_or_out(self, other, self)
}
export function bitwise_xor_(self: Tensor, other: Operand): Tensor {
  return bitwise_xor_out(self, other, self)
}
export function bitwise_left_shift(self: Operand, other: Operand): Tensor {
  return bitwise_left_shift_out(self, other)
}
export function bitwise_right_shift(self: Operand, other: Operand): Tensor {
  return bitwise_right_shift_out(self, other)
}
export function bitwise_left_shift_(self: Tensor, other: Operand): Tensor {
  return bitwise_left_shift_out(self, other, self)
}
export function bitwise_right_shift_(self: Tensor, other: Operand): Tensor {
  return bitwise_right_shift_out(self, other, self)
}
