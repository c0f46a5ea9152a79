import { PtliteError } from '../error.js'
import { complexOf, DType, isComplex, isFloating, realOf } from './dtype.js'
import { promoteTypes } from './promote-types.js'
import { type Operand, promote, scalarType } from './promote.js'
import { Complex } from './scalar.js'
import { Tensor } from './tensor.js'
import * as features from '../features.js'

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
