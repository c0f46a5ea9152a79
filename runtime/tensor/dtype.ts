import { PtliteError } from '../error.js'

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
} as const

export type DTypeName = keyof typeof DType
export type DType = (typeof DType)[DTypeName]

const NAMES: readonly (DTypeName | undefined)[] = [
  'uint8', 'int8', 'int16', 'int32', 'int64', 'float16', 'float32', 'float64',
  undefined, 'complex64', 'complex128', 'bool', 'qint8', 'quint8', 'qint32', 'bfloat16', 'quint4x2',
] // prettier-ignore

/** Bytes per element; quint4x2 packs two elements into the one byte counted here. */
const SIZES: readonly number[] = [1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1]

export function dtypeName(dtype: DType): DTypeName {
  return NAMES[dtype] ?? 'float32'
}

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

export function dtypeFromName(name: string): DType {
  const code = (DType as Record<string, DType | undefined>)[name]
  if (code === undefined || !Object.hasOwn(DType, name)) {
    throw new PtliteError('INVALID_ARGUMENT', `unknown dtype '${name}'; expected one of ${Object.keys(DType).join(', ')}`)
  }
  return code
}

export function isFloating(dtype: DType): boolean {
  return (dtype >= DType.float16 && dtype <= DType.float64) || dtype === DType.bfloat16
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
  return dtype <= DType.int64 || (includeBool && dtype === DType.bool)
}

export function isQuantized(dtype: DType): boolean {
  return (dtype >= DType.qint8 && dtype <= DType.qint32) || dtype === DType.quint4x2
}

const U1 = DType.uint8, I1 = DType.int8, I2 = DType.int16, I4 = DType.int32, I8 = DType.int64 // prettier-ignore
const F2 = DType.float16, F4 = DType.float32, F8 = DType.float64, B1 = DType.bool, BF = DType.bfloat16 // prettier-ignore
const ORDER: readonly DType[] = [U1, I1, I2, I4, I8, F2, F4, F8, B1, BF]
// c10::promoteTypes, rows and columns in ORDER
const PROMOTE: readonly (readonly DType[])[] = [
  [U1, I2, I2, I4, I8, F2, F4, F8, U1, BF],
  [I2, I1, I2, I4, I8, F2, F4, F8, I1, BF],
  [I2, I2, I2, I4, I8, F2, F4, F8, I2, BF],
  [I4, I4, I4, I4, I8, F2, F4, F8, I4, BF],
  [I8, I8, I8, I8, I8, F2, F4, F8, I8, BF],
  [F2, F2, F2, F2, F2, F2, F4, F8, F2, F4],
  [F4, F4, F4, F4, F4, F4, F4, F8, F4, F4],
  [F8, F8, F8, F8, F8, F8, F8, F8, F8, F8],
  [U1, I1, I2, I4, I8, F2, F4, F8, B1, BF],
  [BF, BF, BF, BF, BF, F4, F4, F8, BF, BF],
] // prettier-ignore

/** The dtype both operands are converted to (c10::promoteTypes). Quantized dtypes only promote with themselves. */
export function promoteTypes(a: DType, b: DType): DType {
  if (isComplex(a) || isComplex(b))
    throw new PtliteError('UNSUPPORTED_DTYPE', 'complex tensors cannot be computed with; take their parts first')
  if (a === b) return a
  const row = PROMOTE[ORDER.indexOf(a)]
  const result = row?.[ORDER.indexOf(b)]
  if (result === undefined) {
    throw new PtliteError('INVALID_DTYPE', `no common dtype for ${dtypeName(a)} and ${dtypeName(b)}`)
  }
  return result
}

/** torch.can_cast: a result of dtype `from` may be written into a tensor of dtype `to`. */
export function canCast(from: DType, to: DType): boolean {
  if (isComplex(from) && !isComplex(to)) return false
  if (isFloating(from) && !isFloating(to) && !isComplex(to)) return false
  return !(from !== DType.bool && to === DType.bool)
}
