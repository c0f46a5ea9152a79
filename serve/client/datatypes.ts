/** The protocol's datatypes, with the array that holds elements of each. FP16 and BF16 are raw bits. */
export interface DataOf {
  BOOL: Uint8Array
  UINT8: Uint8Array
  UINT16: Uint16Array
  UINT32: Uint32Array
  UINT64: BigUint64Array
  INT8: Int8Array
  INT16: Int16Array
  INT32: Int32Array
  INT64: BigInt64Array
  FP16: Uint16Array
  BF16: Uint16Array
  FP32: Float32Array
  FP64: Float64Array
  /** An element is a string of bytes; `strings()` reads them as text. */
  BYTES: Uint8Array[]
}

export type Datatype = keyof DataOf
export type NumericDatatype = Exclude<Datatype, 'BYTES'>
/** An array of numbers of one datatype. */
export type TypedData = DataOf[NumericDatatype]

interface NumericClass {
  readonly BYTES_PER_ELEMENT: number
  new (length: number): TypedData
  new (buffer: ArrayBuffer): TypedData
}

/** A row for each datatype but BYTES, whose elements have no common size. */
export const CLASSES: Readonly<Record<NumericDatatype, NumericClass>> = {
  BOOL: Uint8Array,
  UINT8: Uint8Array,
  UINT16: Uint16Array,
  UINT32: Uint32Array,
  UINT64: BigUint64Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  FP16: Uint16Array,
  BF16: Uint16Array,
  FP32: Float32Array,
  FP64: Float64Array,
}

/** What the integer datatypes can hold. */
export const RANGES: Readonly<Partial<Record<Datatype, readonly [bigint, bigint]>>> = {
  UINT8: [0n, 255n],
  UINT16: [0n, 65535n],
  UINT32: [0n, 2n ** 32n - 1n],
  UINT64: [0n, 2n ** 64n - 1n],
  INT8: [-128n, 127n],
  INT16: [-32768n, 32767n],
  INT32: [-(2n ** 31n), 2n ** 31n - 1n],
  INT64: [-(2n ** 63n), 2n ** 63n - 1n],
}

/** The datatype of an array that leaves no choice; a `Uint16Array` may be FP16 and a `Uint8Array` BOOL, where that is said. */
const OF_CLASS: ReadonlyMap<unknown, NumericDatatype> = new Map<unknown, NumericDatatype>([
  [Uint8Array, 'UINT8'],
  [Uint8ClampedArray, 'UINT8'],
  [Uint16Array, 'UINT16'],
  [Uint32Array, 'UINT32'],
  [BigUint64Array, 'UINT64'],
  [Int8Array, 'INT8'],
  [Int16Array, 'INT16'],
  [Int32Array, 'INT32'],
  [BigInt64Array, 'INT64'],
  [Float32Array, 'FP32'],
  [Float64Array, 'FP64'],
])

/** Datatypes by the names that PyTorch's dtypes have. */
const OF_DTYPE: Readonly<Record<string, NumericDatatype>> = {
  bool: 'BOOL',
  uint8: 'UINT8',
  uint16: 'UINT16',
  uint32: 'UINT32',
  uint64: 'UINT64',
  int8: 'INT8',
  int16: 'INT16',
  int32: 'INT32',
  int64: 'INT64',
  float16: 'FP16',
  bfloat16: 'BF16',
  float32: 'FP32',
  float64: 'FP64',
}

export function isDatatype(name: unknown): name is Datatype {
  return name === 'BYTES' || (typeof name === 'string' && Object.hasOwn(CLASSES, name))
}

export function datatypeOfArray(data: object): NumericDatatype | undefined {
  // a Buffer is a Uint8Array by another name
  for (const [type, datatype] of OF_CLASS) if (data instanceof (type as typeof Uint8Array)) return datatype
  return undefined
}

export function datatypeOfDtype(dtype: string): NumericDatatype | undefined {
  return Object.hasOwn(OF_DTYPE, dtype) ? OF_DTYPE[dtype] : undefined
}

/** The number of elements of a shape, or undefined where it is none: sizes are integers from 0, and so is their product. */
export function elementsOf(shape: unknown): number | undefined {
  if (!Array.isArray(shape)) return undefined
  let count = 1
  for (const size of shape as unknown[]) {
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return undefined
    count *= size
  }
  return Number.isSafeInteger(count) ? count : undefined
}
