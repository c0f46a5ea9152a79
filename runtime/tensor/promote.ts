import { complexOf, DType, dtypeName, isComplex, isFloating, isQuantized, itemSize, realOf } from './dtype.js'
import { Complex, Float, type Scalar } from './scalar.js'
import { Tensor } from './tensor.js'
import { absent, PtliteError } from '../error.js'
import * as features from '../features.js'

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

/** The dtype both operands are converted to (c10::promoteTypes). Quantized dtypes only promote with themselves. */
export function promoteTypes(a: DType, b: DType): DType {
  if (isComplex(a) || isComplex(b))
    throw new PtliteError('UNSUPPORTED_DTYPE', 'complex tensors cannot be computed with; take their parts first')
  if (a === b) return a
  if (!features.promotion) throw absent(`an operator on ${dtypeName(a)} and ${dtypeName(b)}`)
  return commonType(a, b)
}

function commonType(a: DType, b: DType): DType {
  if (isQuantized(a) || isQuantized(b)) throw new PtliteError('INVALID_DTYPE', `no common dtype for ${dtypeName(a)} and ${dtypeName(b)}`)
  const [kindA, kindB] = [kindOf(a), kindOf(b)]
  if (kindA !== kindB) return kindA > kindB ? a : b
  const [sizeA, sizeB] = [itemSize(a), itemSize(b)]
  if (sizeA !== sizeB) return sizeA > sizeB ? a : b
  // neither holds all values of the other
  return kindA === FLOATING ? DType.float32 : DType.int16
}

const FLOATING = 2

/** bool < integers < floating point. */
function kindOf(dtype: DType): number {
  if (dtype === DType.bool) return 0
  return isFloating(dtype) ? FLOATING : 1
}

/** promote([a, b]) without the list. */
export function promotePair(a: Operand, b: Operand): DType {
  if (a instanceof Tensor && b instanceof Tensor && a.type === b.type) return a.type
  if (!features.promotion) throw absent('an operator on different dtypes, or on a tensor and a number')
  return promotedPair(a, b)
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

/** An input of an elementwise operator that computes with complex numbers. */
export type AnyOperand = Operand | Complex

/** True for complex tensors and numbers. */
export function isComplexOperand(x: AnyOperand): x is Tensor | Complex {
  return features.complex && (x instanceof Complex || (x instanceof Tensor && isComplex(x.type)))
}

/** True where one of them is complex. */
export function anyComplex(a: AnyOperand, b: AnyOperand): boolean {
  return isComplexOperand(a) || isComplexOperand(b)
}

/** What is no complex number, as it is. Throws INVALID_ARGUMENT for one. */
export function notComplex<T>(value: T | Complex): T {
  if (features.complex && value instanceof Complex)
    throw new PtliteError('INVALID_ARGUMENT', `expected a real number, found complex ${String(value)}`)
  return value as T
}

/**
 * The common dtype of operands of which some may be complex (at::result_type): the real numbers decide on the precision as `promote`
 * has it. Throws UNSUPPORTED_DTYPE where it is complex32, i.e. for float16 tensors and a complex number.
 */
export function promoteAny(operands: readonly AnyOperand[]): DType {
  if (!features.complex || !operands.some(isComplexOperand)) return promote(operands as readonly Operand[])
  const typesOf = (chosen: (x: AnyOperand) => boolean): DType | null =>
    operands.filter(chosen).reduce<DType | null>((type, x) => (type === null ? typeOf(x) : joined(type, typeOf(x))), null)
  const shaped = typesOf((x) => x instanceof Tensor && x.dim > 0)
  const single = typesOf((x) => x instanceof Tensor && x.dim === 0)
  const numbers = typesOf((x) => !(x instanceof Tensor))
  return combined(shaped, combined(single, numbers))!
}

function typeOf(x: AnyOperand): DType {
  if (x instanceof Tensor) return x.type
  return x instanceof Complex ? DType.complex64 : scalarType(x)
}

/** c10::promoteTypes, of complex dtypes too. */
export function joined(a: DType, b: DType): DType {
  if (!features.complex || (!isComplex(a) && !isComplex(b))) return promoteTypes(a, b)
  return complexOf(realOf(a) === DType.float64 ? a : b)
}

/** The dtype of what counts more, in the kind of what counts less where that is higher. */
function combined(higher: DType | null, lower: DType | null): DType | null {
  if (higher === null || lower === null) return higher ?? lower
  if (isComplex(higher)) return higher
  if (isFloating(higher)) return isComplex(lower) ? complexOfFloating(higher) : higher
  return higher === DType.bool || isFloating(lower) || isComplex(lower) ? joined(higher, lower) : higher
}

function complexOfFloating(type: DType): DType {
  if (type !== DType.float16) return complexOf(type)
  throw new PtliteError('UNSUPPORTED_DTYPE', 'float16 tensors and complex numbers give complex32, which is not supported; use float32')
}
