import { DType, isFloating } from './dtype.js'
import { promoteTypes } from './promote-types.js'
import { Float, type Scalar } from './scalar.js'
import { Tensor } from './tensor.js'

/** An input of an elementwise operator. A Scalar promotes as a wrapped number: only by its kind. */
export type Operand = Tensor | Scalar

const NONE = -1
type Maybe = DType | typeof NONE

/** The dtype that a lone number stands for. */
export function scalarType(value: Scalar): DType {
  if (typeof value === 'boolean') return DType.bool
  return value instanceof Float ? DType.float32 : DType.int64
}

/**
 * The common dtype of operands (at::result_type): tensors with dimensions decide; 0-d tensors and then numbers count
 * only where they are of a higher kind (bool < integer < float).
 */
export function promote(operands: readonly Operand[]): DType {
  let dim: Maybe = NONE
  let zeroDim: Maybe = NONE
  let number: Maybe = NONE
  for (const x of operands) {
    if (!(x instanceof Tensor)) number = join(number, scalarType(x))
    else if (x.shape.length > 0) dim = join(dim, x.type)
    else zeroDim = join(zeroDim, x.type)
  }
  return combine(dim, combine(zeroDim, number)) as DType
}

function join(a: Maybe, b: DType): DType {
  return a === NONE ? b : promoteTypes(a, b)
}

/** What counts more and what counts less: at::result_type. */
export function combine(higher: Maybe, lower: Maybe): Maybe {
  if (higher === NONE) return lower
  if (lower === NONE || isFloating(higher)) return higher
  if (higher === DType.bool || isFloating(lower)) return promoteTypes(higher, lower)
  return higher
}

/** `type`, or float32 where it is an integer or bool: the result of functions on the reals. */
export function toFloating(type: DType): DType {
  return isFloating(type) ? type : DType.float32
}
