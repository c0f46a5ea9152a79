import { PtliteError } from '../error.js'
import { HOLDS_COMPLEX } from '../held.js'
import * as kernels from '../native/generated/kernels.js'
import { viewAsReal } from './complex.js'
import { DType, isComplex, isFloating } from './dtype.js'
import { noteRead } from './observe.js'
import { Float, type Scalar, toInt } from './scalar.js'
import { extentOf, isContiguous, numelOf } from './shape.js'
import type { Tensor } from './tensor.js'

/** Tensor data at the surface: float16 and bfloat16 are raw bits, bool is 0 or 1 in bytes, quantized types are raw integers. */
export type TypedArray =
  Float32Array | Float64Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | BigInt64Array

type ArrayType = new (source: number | ArrayBuffer) => Exclude<TypedArray, Uint8ClampedArray>

const ARRAY_TYPES: Readonly<Record<DType, ArrayType>> = {
  [DType.uint8]: Uint8Array,
  [DType.int8]: Int8Array,
  [DType.int16]: Int16Array,
  [DType.int32]: Int32Array,
  [DType.int64]: BigInt64Array,
  [DType.float16]: Uint16Array,
  [DType.float32]: Float32Array,
  [DType.float64]: Float64Array,
  [DType.complex64]: Float32Array,
  [DType.complex128]: Float64Array,
  [DType.bool]: Uint8Array,
  [DType.qint8]: Int8Array,
  [DType.quint8]: Uint8Array,
  [DType.qint32]: Int32Array,
  [DType.bfloat16]: Uint16Array,
  [DType.quint4x2]: Uint8Array,
}

/** The typed array class that holds data of this dtype. */
export function arrayTypeOf(type: DType): ArrayType {
  return ARRAY_TYPES[type]
}

/** A row-major copy of the elements, complex ones as pairs: the one way by which tensor data reach TypeScript. */
export function readTensor(t: Tensor): Exclude<TypedArray, Uint8ClampedArray> {
  noteRead(t)
  if (isComplex(t.type)) return readTensor(viewAsReal(t))
  const ArrayType = arrayTypeOf(t.type)
  const n = numelOf(t.shape)
  const contiguous = isContiguous(t.shape, t.strides)
  const length = contiguous ? n : extentOf(t.shape, t.strides)
  const raw = new ArrayType(length)
  if (length > 0) kernels.mem_read({ address: t.address, bytes: raw.byteLength }, raw)
  if (contiguous) return raw
  const out = new ArrayType(n)
  gather(t.shape, t.strides, raw, out)
  return out
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
  if (data.length !== numelOf(t.shape) || data.BYTES_PER_ELEMENT !== t.itemSize || !t.isContiguous) {
    throw new PtliteError(
      'INTERNAL',
      `cannot write ${data.length} elements of ${data.BYTES_PER_ELEMENT} bytes into ${t.dtype}[${t.shape.join(', ')}]`,
    )
  }
  if (data.length > 0) kernels.mem_write({ address: t.address, bytes: data.byteLength }, data)
  t.storage.version++
}

/** The element of a one-element tensor as a scalar; quantized ones are dequantized. Throws INVALID_ARGUMENT for other sizes. */
export function itemOf(t: Tensor): Scalar {
  const n = numelOf(t.shape)
  if (n !== 1) throw new PtliteError('INVALID_ARGUMENT', `a tensor with ${n} elements cannot be converted to a number`)
  if (HOLDS_COMPLEX && isComplex(t.type)) return realItem(t)
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
  if (t.type === DType.bool) return Number(raw) !== 0
  if (typeof raw === 'bigint') return toInt(raw)
  if (t.type === DType.float16) return new Float(halfToNumber(raw))
  if (t.type === DType.bfloat16) return new Float(bfloat16ToNumber(raw))
  if (isFloating(t.type)) return new Float(raw)
  if (t.quant !== null && 'scale' in t.quant) return new Float(Math.fround((raw - t.quant.zeroPoint) * t.quant.scale))
  return raw
}

/** The value of IEEE half-precision bits. */
export function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

const bits32 = new Uint32Array(1)
const float32 = new Float32Array(bits32.buffer)

/** The value of bfloat16 bits. */
export function bfloat16ToNumber(bits: number): number {
  bits32[0] = bits << 16
  return float32[0]!
}
