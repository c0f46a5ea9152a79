import { absent, check, PtliteError } from '../error.js'
import * as kernels from '../native/generated/kernels.js'
import { DType, holdsComplex, isComplex, isFloat8, isFloating, itemSize, realOf } from './dtype.js'
import { float8Value } from './float8.js'
import { halfValue, isHalf } from './half.js'
import { noteRead } from './observe.js'
import { type AnyScalar, Complex, Float, type Scalar, toInt } from './scalar.js'
import { extentOf, isContiguous, numelOf, refuseSparse, shapeText } from './shape.js'
import type { Tensor } from './tensor.js'
import { arrayName, byteLengthOf, lengthOf } from '../intrinsics.js'
import { steady } from './storage.js'
import { scaledElement } from './quant.js'
import * as features from '../features.js'
import { noteUse } from '../traced-parts.js'

/** Tensor data at the surface: float16, bfloat16 and floats of 8 bits are raw bits, bool is 0 or 1 in bytes, quantized types are raw integers. */
export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array

type ArrayType = new (source: number | ArrayBuffer) => Exclude<TypedArray, Uint8ClampedArray>

// in the order of DType
const ARRAY_TYPES: readonly (ArrayType | undefined)[] = [
  Uint8Array, Int8Array, Int16Array, Int32Array, BigInt64Array, Uint16Array, Float32Array, Float64Array,
  undefined, Float32Array, Float64Array, Uint8Array, Int8Array, Uint8Array, Int32Array, Uint16Array, Uint8Array,
  undefined, undefined, undefined, undefined, undefined, undefined,
  Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint16Array, Uint32Array, BigUint64Array,
] // prettier-ignore

/** The typed array class that holds data of this dtype. */
export function arrayTypeOf(type: DType): ArrayType {
  return ARRAY_TYPES[type]!
}

/** The dtype whose elements a typed array holds; undefined for Uint16Array, which may be float16, bfloat16 or uint16, and for foreign classes. */
export function dtypeOfArray(data: TypedArray): DType | undefined {
  const name = arrayName(data)
  if (name === 'Uint8ClampedArray') return DType.uint8
  const code = ARRAY_TYPES.findIndex((type) => type?.name === name)
  return code < 0 || code === DType.float16 ? undefined : (code as DType)
}

/** A row-major copy of the elements, complex ones as pairs: the one way by which tensor data reach TypeScript. */
export function readTensor(t: Tensor): Exclude<TypedArray, Uint8ClampedArray> {
  if (t.isSparse) refuseSparse(t.shape)
  noteRead(t)
  const { offset, shape, strides, type } = isComplex(t.type) ? pairsOf(t) : t
  const ArrayType = arrayTypeOf(type)
  const n = numelOf(shape)
  const contiguous = isContiguous(shape, strides)
  const length = contiguous ? n : extentOf(shape, strides)
  const raw = arrayOf(ArrayType, length, t)
  if (length > 0) t.storage.read(offset * itemSize(type), raw)
  if (contiguous) return raw
  const out = arrayOf(ArrayType, n, t)
  gather(shape, strides, raw, out)
  return out
}

/** Throws OUT_OF_MEMORY where JavaScript has no array of that length: a tensor may have more elements than there is memory. */
function arrayOf<T>(ArrayType: new (length: number) => T, length: number, t: Tensor): T {
  try {
    return new ArrayType(length)
  } catch {
    throw new PtliteError('OUT_OF_MEMORY', `no array has the ${length} elements of a ${t.dtype} tensor of shape ${shapeText(t.shape)}`)
  }
}

/** A copy of the elements from the first to the last one in memory, with what lies between; complex ones as pairs. */
export function readExtent(t: Tensor): Exclude<TypedArray, Uint8ClampedArray> {
  noteRead(t)
  const ArrayType = arrayTypeOf(t.type)
  const bytes = extentOf(t.shape, t.strides) * t.itemSize
  const raw = arrayOf(ArrayType, bytes / new ArrayType(0).BYTES_PER_ELEMENT, t)
  if (bytes > 0) t.storage.read(t.offset * t.itemSize, raw)
  return raw
}

function gather(shape: readonly number[], strides: readonly number[], from: TypedArray, to: TypedArray): void {
  let at = 0
  const walk = (dim: number, offset: number): void => {
    const size = shape[dim]!
    const step = strides[dim]!
    if (dim === shape.length - 1) {
      for (let i = 0; i < size; i++) to[at++] = from[offset + i * step]!
    } else {
      for (let i = 0; i < size; i++) walk(dim + 1, offset + i * step)
    }
  }
  walk(0, 0)
}

/** Fills a contiguous tensor from an array of its own element type and length: the way in. */
export function writeTensor(t: Tensor, data: TypedArray): void {
  const host = steady(data)
  const bytes = byteLengthOf(host)
  const n = lengthOf(data)
  if (n !== numelOf(t.shape) || bytes !== n * t.itemSize || !t.isContiguous) {
    throw new PtliteError('INTERNAL', `cannot write ${n} elements, ${bytes} bytes, into ${t.dtype}${shapeText(t.shape)}`)
  }
  if (n > 0) kernels.mem_write({ address: t.address, bytes }, host)
  t.storage.version++
}

/** The element of a one-element tensor as a scalar; quantized ones are dequantized. Throws INVALID_ARGUMENT for other sizes. */
export function itemOf(t: Tensor): Scalar {
  const n = numelOf(t.shape)
  if (n !== 1) throw new PtliteError('INVALID_ARGUMENT', `a tensor with ${n} elements cannot be converted to a number`)
  if (holdsComplex(t)) return realItem(t)
  return elementScalar(readTensor(t)[0]!, t)
}

/** A complex element as a number. Throws INVALID_DTYPE where it has an imaginary part. */
function realItem(t: Tensor): Scalar {
  const [real, imaginary] = readTensor(t) as Float32Array | Float64Array
  if (imaginary !== 0) throw new PtliteError('INVALID_DTYPE', `the complex number (${real}, ${imaginary}) is no real number`)
  return new Float(real!)
}

/** The scalar that a raw element stands for. */
export function elementScalar(raw: number | bigint, t: Tensor): Scalar {
  const value = elementValue(raw, t.type)
  if (typeof value === 'bigint') return toInt(value)
  if (typeof value === 'boolean') return value
  if (isFloating(t.type)) return new Float(value)
  return scaledElement(value, t.quant)
}

/** The number or boolean that a raw element stands for; integers of quantized tensors as they are. */
export function elementValue(raw: number | bigint, type: DType): number | bigint | boolean {
  if (type === DType.bool) return Number(raw) !== 0
  if (features.limited && isFloat8(type)) return float8Value(Number(raw), type)
  return isHalf(type) ? halfValue(Number(raw), type) : raw
}

/** itemOf, of complex tensors a complex number. */
export function anyItemOf(t: Tensor): AnyScalar {
  if (!features.complex || !isComplex(t.type) || t.numel !== 1) return itemOf(t)
  const [re, im] = readTensor(t) as Float32Array | Float64Array
  return new Complex(re!, im!)
}

/** The elements of a complex tensor as pairs of reals, shape [..., 2]. Throws INVALID_ARGUMENT for other tensors. */
export function pairsOf(t: Tensor): Pick<Tensor, 'offset' | 'shape' | 'strides' | 'type'> {
  if (!features.complex) throw absent('complex tensors')
  noteUse('complex')
  check(isComplex(t.type), () => `expected a complex tensor, found ${t.dtype}`)
  return { offset: 2 * t.offset, shape: [...t.shape, 2], strides: [...t.strides.map((s) => 2 * s), 1], type: realOf(t.type) }
}
