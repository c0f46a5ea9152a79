import type { DTypeName } from './dtype.js'
import type { Complex } from './scalar.js'
import type { Tensor } from './tensor.js'

/* What TypeScript knows of tensors whose dtype it knows. */

/** A tensor, or a number that stands for one of it in all places. */
export type Operand = Tensor | number | bigint

type Integral = 'uint8' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint16' | 'uint32' | 'uint64' | 'bool'

/** The typed arrays of `data()`. */
interface Arrays {
  readonly uint8: Uint8Array
  readonly int8: Int8Array
  readonly int16: Int16Array
  readonly int32: Int32Array
  readonly int64: BigInt64Array
  readonly float16: Uint16Array
  readonly float32: Float32Array
  readonly float64: Float64Array
  readonly complex64: Float32Array
  readonly complex128: Float64Array
  readonly bool: Uint8Array
  readonly qint8: Int8Array
  readonly quint8: Uint8Array
  readonly qint32: Int32Array
  readonly bfloat16: Uint16Array
  readonly quint4x2: Uint8Array
  readonly float8_e5m2: Uint8Array
  readonly float8_e4m3fn: Uint8Array
  readonly float8_e5m2fnuz: Uint8Array
  readonly float8_e4m3fnuz: Uint8Array
  readonly uint16: Uint16Array
  readonly uint32: Uint32Array
  readonly uint64: BigUint64Array
}

/** The typed array that `data()` of a tensor of this dtype gives. */
export type DataOf<D extends DTypeName> = Arrays[D]

/** What `item()` and `toArray()` give for an element: bigints beyond 2^53 alone. */
export type ElementOf<D extends DTypeName> = D extends 'bool'
  ? boolean
  : D extends 'int64' | 'uint64'
    ? number | bigint
    : D extends 'complex64' | 'complex128'
      ? Complex
      : number

/** Elements in nested arrays, as deep as the tensor has dimensions; one element for a tensor without any. */
export type Nested<Element> = Element | Nested<Element>[]

/** The dtype that a number or typed array decides: of `tensor(data)`. */
export type DTypeOf<Data> = Data extends Float32Array
  ? 'float32'
  : Data extends Float64Array
    ? 'float64'
    : Data extends Int8Array
      ? 'int8'
      : Data extends Uint8Array | Uint8ClampedArray
        ? 'uint8'
        : Data extends Int16Array
          ? 'int16'
          : Data extends Int32Array
            ? 'int32'
            : Data extends Uint32Array
              ? 'uint32'
              : Data extends BigInt64Array
                ? 'int64'
                : Data extends BigUint64Array
                  ? 'uint64'
                  : Data extends Uint16Array
                    ? 'float16' | 'bfloat16' | 'uint16'
                    : DTypeOfElement<Data>

/** Of nested arrays, eight deep: deeper ones, and types that contain themselves, may hold any elements. */
type DTypeOfElement<Data, Depth extends readonly unknown[] = []> = [Data] extends [never]
  ? 'float32'
  : Depth['length'] extends 8
    ? 'float32' | 'int64' | 'bool'
    : Data extends readonly (infer Item)[]
      ? DTypeOfElement<Item, [...Depth, unknown]>
      : Data extends boolean
        ? 'bool'
        : Data extends bigint
          ? 'int64'
          : 'float32'

/** float32 for integers. */
export type FloatingOf<D extends DTypeName> = D extends Integral ? 'float32' : D
/** int64 for integers. */
export type SumOf<D extends DTypeName> = D extends Integral ? 'int64' : D
/** The dtype of the parts of complex numbers, and of their length. */
export type RealOf<D extends DTypeName> = D extends 'complex64' ? 'float32' : D extends 'complex128' ? 'float64' : D

/** Of a tensor and another operand: their dtype where they have one, or where a number goes with floating-point numbers; any elsewhere. */
export type PromotedOf<D extends DTypeName, O> =
  O extends Tensor<infer E> ? ([D] extends [E] ? ([E] extends [D] ? D : DTypeName) : DTypeName) : D extends Integral ? DTypeName : D
