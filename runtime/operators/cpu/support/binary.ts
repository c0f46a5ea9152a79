import { type DType } from '../../../tensor/dtype.js'
import { type Operand, promotePair, toFloating } from '../../../tensor/promote.js'
import { Tensor } from '../../../tensor/tensor.js'
import { checkPlain, notFor, runBinary } from './elementwise.js'

export function plainPair(name: string, a: Operand, b: Operand): void {
  if (a instanceof Tensor) checkPlain(name, a)
  if (b instanceof Tensor) checkPlain(name, b)
}

/** A function on the reals: integers and bools give float32. */
export function real(name: string, op: number): (self: Operand, other: Operand, out?: Tensor) => Tensor {
  return (self, other, out) => {
    plainPair(name, self, other)
    const type = toFloating(promotePair(self, other))
    return runBinary(op, self, other, type, type, out)
  }
}

/** A function that keeps the common dtype. */
export function keeping(
  name: string,
  op: number,
  takes: (common: DType) => boolean,
): (self: Tensor, other: Tensor, out?: Tensor) => Tensor {
  return (self, other, out) => {
    plainPair(name, self, other)
    const common = promotePair(self, other)
    if (!takes(common)) notFor(name, common)
    return runBinary(op, self, other, common, common, out)
  }
}

export const anyType = (): boolean => true
