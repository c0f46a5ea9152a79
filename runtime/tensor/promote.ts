import { absent } from '../error.js'
import { HOLDS_MIXED_DTYPES } from '../held.js'
import { DType, isFloating, promoteTypes } from './dtype.js'
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

/** promote([a, b]) without the list. */
export function promotePair(a: Operand, b: Operand): DType {
  if (a instanceof Tensor && b instanceof Tensor && a.type === b.type) return a.type
  if (HOLDS_MIXED_DTYPES) return promotedPair(a, b)
  throw absent('an operator on different dtypes, or on a tensor and a number')
}

function promotedPair(a: Operand, b: Operand): DType {
  if (a instanceof Tensor) {
    if (b instanceof Tensor) {
      if (a.shape.length > 0 === b.shape.length > 0) return promoteTypes(a.type, b.type)
      return (a.shape.length > 0 ? combine(a.type, b.type) : combine(b.type, a.type)) as DType
    }
    return combine(a.type, scalarType(b)) as DType
  }
  if (b instanceof Tensor) return combine(b.type, scalarType(a)) as DType
  return promoteTypes(scalarType(a), scalarType(b))
}

function join(a: Maybe, b: DType): DType {
  return a === NONE ? b : promoteTypes(a, b)
}

function combine(higher: Maybe, lower: Maybe): Maybe {
  if (higher === NONE) return lower
  if (lower === NONE || isFloating(higher)) return higher
  if (higher === DType.bool || isFloating(lower)) return promoteTypes(higher, lower)
  return higher
}

/** `type`, or float32 where it is an integer or bool: the result of functions on the reals. */
export function toFloating(type: DType): DType {
  return isFloating(type) ? type : DType.float32
}
