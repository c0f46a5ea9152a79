import { PtliteError } from '../error.js'
import * as features from '../features.js'

/** Element types, numbered as c10::ScalarType, which is how models write them. */
export const DType = {
  uint8: 0,
  int8: 1,
  int16: 2,
  int32: 3,
  int64: 4,
  float16: 5,
  float32: 6,
  float64: 7,
  complex64: 9,
  complex128: 10,
  bool: 11,
  qint8: 12,
  quint8: 13,
  qint32: 14,
  bfloat16: 15,
  quint4x2: 16,
  float8_e5m2: 23,
  float8_e4m3fn: 24,
  float8_e5m2fnuz: 25,
  float8_e4m3fnuz: 26,
  uint16: 27,
  uint32: 28,
  uint64: 29,
} as const

/** Names of dtypes, as PyTorch has them. */
export type DTypeName = keyof typeof DType
/** The number of a dtype. */
export type DType = (typeof DType)[DTypeName]

/** By number; 8 is complex32, 17 quint2x4, 18 to 22 are bits without a meaning. DType itself is read field by field only, so that bundlers put numbers in the place of its fields. */
const NAMES: readonly (DTypeName | undefined)[] = [
  ...(['uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64', undefined] as const),
  ...(['complex64', 'complex128', 'bool', 'qint8', 'quint8', 'qint32', 'bfloat16', 'quint4x2'] as const),
  ...[undefined, undefined, undefined, undefined, undefined, undefined],
  ...(['float8_e5m2', 'float8_e4m3fn', 'float8_e5m2fnuz', 'float8_e4m3fnuz', 'uint16', 'uint32', 'uint64'] as const),
]

/** Names of all dtypes. */
export const DTYPE_NAMES: readonly DTypeName[] = NAMES.filter((name) => name !== undefined)

/** Bytes per element; quint4x2 packs two elements into the one byte counted here. */
const SIZES: readonly number[] = [1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 4, 8]

export function dtypeName(dtype: DType): DTypeName {
  return NAMES[dtype] ?? 'float32'
}

/** Bytes of an element. */
export function itemSize(dtype: DType): number {
  return SIZES[dtype]!
}

/** The dtype with this c10::ScalarType number; throws for complex32 and unknown ones. */
export function dtypeFromCode(code: number): DType {
  if (NAMES[code] === undefined) {
    throw new PtliteError('UNSUPPORTED_DTYPE', `expected a known dtype, found scalar type number ${code}`)
  }
  return code as DType
}

/** The name of the dtype with a c10::ScalarType number; undefined for complex32 and unknown ones. */
export function nameOfCode(code: number): DTypeName | undefined {
  return NAMES[code]
}

export function dtypeFromName(name: string): DType {
  // callers in JavaScript pass anything
  const code = typeof name === 'string' ? NAMES.indexOf(name as DTypeName) : -1
  if (code < 0) {
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `unknown dtype ${typeof name === 'string' ? `'${name}'` : `(${typeof name})`}; expected one of ${DTYPE_NAMES.join(', ')}`,
    )
  }
  return code as DType
}

/** float16, bfloat16, float32 and float64, and those of 8 bits. */
export function isFloating(dtype: DType): boolean {
  return (dtype >= DType.float16 && dtype <= DType.float64) || dtype === DType.bfloat16 || isFloat8(dtype)
}

/** The floating-point dtypes of 8 bits. */
export function isFloat8(dtype: DType): boolean {
  return dtype >= DType.float8_e5m2 && dtype <= DType.float8_e4m3fnuz
}

/**
 * The dtypes that PyTorch gives little arithmetic: floats of 8 bits, and unsigned integers of 16 and more. Kernels move and convert them;
 * runtime/operators/table/limited.ts says which operators take them.
 */
export function isLimited(dtype: DType): boolean {
  return dtype >= DType.float8_e5m2
}

/** Pairs of floating-point numbers. Fourier transforms and the four basic operations compute with them; everything else takes their parts. */
export function isComplex(dtype: DType): boolean {
  return dtype === DType.complex64 || dtype === DType.complex128
}

/** The complex dtype of this precision; complex64 for integers and halves. */
export function complexOf(dtype: DType): DType {
  return dtype === DType.float64 || dtype === DType.complex128 ? DType.complex128 : DType.complex64
}

/** The dtype of a complex one's parts; others are their own. */
export function realOf(dtype: DType): DType {
  if (dtype === DType.complex64) return DType.float32
  return dtype === DType.complex128 ? DType.float64 : dtype
}

/** Signed and unsigned integers; bool only where `includeBool`. */
export function isIntegral(dtype: DType, includeBool = false): boolean {
  return dtype <= DType.int64 || dtype >= DType.uint16 || (includeBool && dtype === DType.bool)
}

/** Whether elements are integers with scales and zero points. */
export function isQuantized(dtype: DType): boolean {
  return (dtype >= DType.qint8 && dtype <= DType.qint32) || dtype === DType.quint4x2
}

/** The dtype of a quantized one's integers, other dtypes are their own. Throws UNSUPPORTED_DTYPE for quint4x2, whose integers have no bytes of their own. */
export function integerType(dtype: DType): DType {
  if (dtype === DType.quint8) return DType.uint8
  if (dtype === DType.qint8) return DType.int8
  if (dtype === DType.qint32) return DType.int32
  if (dtype === DType.quint4x2) throw new PtliteError('UNSUPPORTED_DTYPE', 'quint4x2 tensors can only be used by the embedding operators')
  return dtype
}

/** torch.can_cast: a result of dtype `from` may be written into a tensor of dtype `to`. */
export function canCast(from: DType, to: DType): boolean {
  if (isComplex(from) && !isComplex(to)) return false
  if (isFloating(from) && !isFloating(to) && !isComplex(to)) return false
  return !(from !== DType.bool && to === DType.bool)
}

/** True for complex tensors, where there is code for them. */
export function holdsComplex(t: { readonly type: DType }): boolean {
  return features.complex && isComplex(t.type)
}
