import { check, PtliteError } from '../runtime/error.js'
import { DType, dtypeFromName, dtypeName, type DTypeName, isQuantized, itemSize } from '../runtime/tensor/dtype.js'
import { arrayTypeOf, dtypeOfArray, type TypedArray } from '../runtime/tensor/data.js'
import { isHalf } from '../runtime/tensor/half.js'
import { numelOf, sameShape, shapeText } from '../runtime/tensor/shape.js'
import { Tensor } from '../runtime/tensor/tensor.js'

/** Nested arrays of numbers, bigints or booleans, all of one shape. */
export type NestedArray = number | bigint | boolean | readonly NestedArray[]

/**
 * A new tensor with a copy of `data`: a typed array, or numbers in nested arrays. Without `dtype` a typed array
 * keeps its own (Uint16Array has none: name float16 or bfloat16); numbers become float32, bigints int64, booleans
 * bool. Without `shape` it is the nesting, or one dimension. Throws INVALID_ARGUMENT where lengths do not fit.
 */
export function tensor(data: TypedArray | NestedArray, shape?: readonly number[], dtype?: DTypeName): Tensor {
  const isTyped = ArrayBuffer.isView(data)
  const flat: Element[] = []
  const nested = isTyped ? [data.length] : flatten(data, flat)
  const elements = isTyped ? data : flat
  const type = dtype !== undefined ? dtypeFromName(dtype) : isTyped ? dtypeOfArray(data) : dtypeOf(flat[0])
  if (type === undefined) {
    throw new PtliteError('INVALID_ARGUMENT', `name the dtype of a ${(data as TypedArray).constructor.name}: float16 or bfloat16`)
  }
  const array = elements instanceof arrayTypeOf(type) ? elements : converted(elements, type)
  const sizes = shape ?? nested
  const [needed, found] = [numelOf(sizes), array.byteLength / itemSize(type)]
  check(needed === found, () => `shape ${shapeText(sizes)} needs ${needed} elements, found ${found}`)
  return Tensor.fromStorage(array, { dtype: dtypeName(type), shape: sizes })
}

type Element = number | bigint | boolean

function dtypeOf(element: Element | undefined): DType {
  return typeof element === 'boolean' ? DType.bool : typeof element === 'bigint' ? DType.int64 : DType.float32
}

/** The elements as an array of this dtype. */
function converted(elements: ArrayLike<Element>, type: DType): TypedArray {
  const ArrayType = arrayTypeOf(type)
  if (isHalf(type) || isQuantized(type)) {
    const text = `${dtypeName(type)} data must be a ${ArrayType.name} of raw bits, found ${elements.constructor.name}`
    throw new PtliteError('INVALID_ARGUMENT', text)
  }
  const array = new ArrayType(elements.length)
  const convert = type === DType.int64 ? toBigInt : type === DType.bool ? toBit : Number
  for (let i = 0; i < array.length; i++) array[i] = convert(elements[i]!)
  return array
}

function toBigInt(x: Element): bigint {
  if (typeof x === 'number' && !Number.isInteger(x)) throw new PtliteError('INVALID_ARGUMENT', `int64 data must be integers, found ${x}`)
  return BigInt(x)
}

/** NaN counts as true. */
function toBit(x: Element): number {
  return Number(x) === 0 ? 0 : 1
}

/** Appends the numbers of `data` to `flat` and returns its shape. */
function flatten(data: NestedArray, flat: Element[]): number[] {
  if (!Array.isArray(data)) {
    if (typeof data !== 'number' && typeof data !== 'bigint' && typeof data !== 'boolean') {
      throw new PtliteError('INVALID_ARGUMENT', `expected numbers in nested arrays, found ${typeof data}`)
    }
    flat.push(data)
    return []
  }
  let inner: number[] | null = null
  for (const item of data as readonly NestedArray[]) {
    const shape = flatten(item, flat)
    inner ??= shape
    if (!sameShape(shape, inner)) {
      throw new PtliteError('INVALID_ARGUMENT', `nested arrays must all have one shape, found ${shapeText(inner)} and ${shapeText(shape)}`)
    }
  }
  return [data.length, ...(inner ?? [])]
}
