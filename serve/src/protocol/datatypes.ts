import type { DTypeName, TypedArray } from 'ptlite'

/** What the protocol calls the elements of tensors. */
export type Datatype =
  'BOOL' | 'UINT8' | 'UINT16' | 'UINT32' | 'UINT64' | 'INT8' | 'INT16' | 'INT32' | 'INT64' | 'FP16' | 'BF16' | 'FP32' | 'FP64' | 'BYTES'

/** Elements of a tensor that are numbers. */
export type ElementArray = Exclude<TypedArray, Uint8ClampedArray>

type ArrayType = {
  new (buffer: ArrayBuffer, offset?: number, length?: number): ElementArray
  new (length: number): ElementArray
}

export interface Elements {
  /** Bytes of one; 0 where that differs. */
  readonly bytes: number
  readonly array: ArrayType
  /** What the library calls it; null where it has no such tensors. */
  readonly dtype: DTypeName | null
}

/** FP16 and BF16 are their bits. */
export const DATATYPES: Readonly<Record<Datatype, Elements>> = {
  BOOL: { bytes: 1, array: Uint8Array, dtype: 'bool' },
  UINT8: { bytes: 1, array: Uint8Array, dtype: 'uint8' },
  UINT16: { bytes: 2, array: Uint16Array, dtype: null },
  UINT32: { bytes: 4, array: Int32Array, dtype: null },
  UINT64: { bytes: 8, array: BigInt64Array, dtype: null },
  INT8: { bytes: 1, array: Int8Array, dtype: 'int8' },
  INT16: { bytes: 2, array: Int16Array, dtype: 'int16' },
  INT32: { bytes: 4, array: Int32Array, dtype: 'int32' },
  INT64: { bytes: 8, array: BigInt64Array, dtype: 'int64' },
  FP16: { bytes: 2, array: Uint16Array, dtype: 'float16' },
  BF16: { bytes: 2, array: Uint16Array, dtype: 'bfloat16' },
  FP32: { bytes: 4, array: Float32Array, dtype: 'float32' },
  FP64: { bytes: 8, array: Float64Array, dtype: 'float64' },
  BYTES: { bytes: 0, array: Uint8Array, dtype: null },
}

const BY_DTYPE: ReadonlyMap<string, Datatype> = new Map(
  (Object.keys(DATATYPES) as Datatype[]).flatMap((name) => {
    const { dtype } = DATATYPES[name]
    return dtype === null ? [] : [[dtype, name] as const]
  }),
)

const NAMES: ReadonlySet<unknown> = new Set(Object.keys(DATATYPES))

export function isDatatype(name: unknown): name is Datatype {
  return NAMES.has(name)
}

/** What the protocol calls a dtype of the library; undefined where it has no name for it. */
export function datatypeOf(dtype: string): Datatype | undefined {
  return BY_DTYPE.get(dtype)
}
