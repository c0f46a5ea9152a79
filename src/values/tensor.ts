import { check, PtliteError } from '../../runtime/error.js'
import { DType, dtypeFromName, dtypeName, type DTypeName, isFloat8, isFloating, isQuantized, itemSize } from '../../runtime/tensor/dtype.js'
import { arrayTypeOf, dtypeOfArray, type TypedArray } from '../../runtime/tensor/data.js'
import type { DTypeOf } from '../../runtime/tensor/dtype-types.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { isHalf } from '../../runtime/tensor/half.js'
import { arrayName, bufferOf, byteLengthOf, lengthOf } from '../../runtime/intrinsics.js'
import { numelOf, sameShape, shapeText, sizesOf } from '../../runtime/tensor/shape.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { reading } from '../../runtime/tensor/check-arguments.js'

/** Nested arrays of numbers, bigints or booleans, all of one shape. */
export type NestedArray = number | bigint | boolean | readonly NestedArray[]

/**
 * A new tensor with a copy of `data`: a typed array, or numbers in nested arrays. Without `dtype` a typed array
 * keeps its own (Uint16Array has none: name float16, bfloat16 or uint16); numbers become float32, bigints int64, booleans
 * bool. Without `shape` it is the nesting, or one dimension. Throws INVALID_ARGUMENT where lengths do not fit, and for numbers that an integer
 * dtype cannot hold. As in PyTorch fractions are cut off, and negative integers wrap where the dtype has no sign.
 */
export function tensor<Data extends TypedArray | NestedArray, D extends DTypeName = DTypeOf<Data>>(
  data: Data,
  shape?: readonly number[],
  dtype?: D,
): Tensor<D> {
  return reading(() => tensorOf(data, shape, dtype)) as Tensor<D>
}

function tensorOf(data: TypedArray | NestedArray, shape?: readonly number[], dtype?: DTypeName): Tensor {
  const kind = arrayName(data)
  const isTyped = kind !== undefined
  if (isTyped && lengthOf(data as TypedArray) === 0) checkAttached(data as TypedArray)
  const flat: Element[] = []
  const nested = isTyped ? [lengthOf(data as TypedArray)] : flatten(data as NestedArray, flat, 0)
  const elements = isTyped ? (data as TypedArray) : flat
  const type = dtype !== undefined ? dtypeFromName(dtype) : isTyped ? dtypeOfArray(data as TypedArray) : dtypeOf(flat[0])
  if (type === undefined)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `data is a ${kind!}; ${kind === 'Uint16Array' ? 'name its dtype: float16, bfloat16 or uint16' : 'no dtype has such elements'}`,
    )
  const array = kind === arrayTypeOf(type).name ? (elements as TypedArray) : converted(elements, type, kind)
  const sizes = shape === undefined ? nested : sizesOf(shape, 'shape')
  const [needed, found] = [numelOf(sizes), byteLengthOf(array) / itemSize(type)]
  check(needed === found, () => `shape ${shapeText(sizes)} needs ${needed} elements, found ${found}`)
  return Tensor.fromStorage(array, { dtype: dtypeName(type), shape: sizes })
}

type Element = number | bigint | boolean

function dtypeOf(element: Element | undefined): DType {
  return typeof element === 'boolean' ? DType.bool : typeof element === 'bigint' ? DType.int64 : DType.float32
}

/** Memory that was given to another thread has no elements left, as an array that never had any. */
function checkAttached(data: TypedArray): void {
  try {
    new Uint8Array(bufferOf(data))
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `data is a ${arrayName(data)!} whose memory was transferred to another owner`, { cause })
  }
}

/** PyTorch's limit. */
const MAX_RANK = 64

/** The elements as an array of this dtype. */
function converted(elements: TypedArray | readonly Element[], type: DType, kind: string | undefined): TypedArray {
  const ArrayType = arrayTypeOf(type)
  if (isHalf(type) || isFloat8(type) || isQuantized(type))
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `${dtypeName(type)} data must be a ${ArrayType.name} of raw bits, found ${kind ?? 'nested arrays'}`,
    )
  const array = new ArrayType(ArrayBuffer.isView(elements) ? lengthOf(elements) : elements.length)
  const isLong = type === DType.int64 || type === DType.uint64
  const convert = isLong ? toBigIntOf(type) : type === DType.bool ? toBit : isFloating(type) ? Number : toIntegerOf(type)
  for (let i = 0; i < array.length; i++) array[i] = convert(elements[i]!)
  return array
}

/** Integers of 64 bits; negative ones wrap where the dtype has no sign. */
function toBigIntOf(type: DType): (x: Element) => bigint {
  const name = dtypeName(type)
  const inRange = (value: bigint): boolean =>
    type === DType.int64 ? BigInt.asIntN(64, value) === value : value > -(2n ** 64n) && value < 2n ** 64n
  return (x) => {
    if (typeof x === 'number' && !Number.isInteger(x))
      throw new PtliteError('INVALID_ARGUMENT', `${name} data must be integers, found ${x}`)
    const value = BigInt(x)
    check(inRange(value), () => `${name} data must be integers of 64 bits, found ${value}`)
    return value
  }
}

/** Numbers as integers of 8 to 32 bits. */
function toIntegerOf(type: DType): (x: Element) => number {
  const bits = 8 * itemSize(type)
  const isUnsigned = type === DType.uint8 || type === DType.uint16 || type === DType.uint32
  const most = isUnsigned ? 2 ** bits - 1 : 2 ** (bits - 1) - 1
  const least = isUnsigned ? 0 : -most - 1
  return (x) => {
    const value = Number(x)
    const wraps = isUnsigned && value >= -most && Number.isInteger(value)
    check((value >= least || wraps) && value <= most, () => `${dtypeName(type)} data must be from ${least} to ${most}, found ${value}`)
    return value
  }
}

/** NaN counts as true. */
function toBit(x: Element): number {
  return Number(x) === 0 ? 0 : 1
}

/** Appends the numbers of `data` to `flat` and returns its shape. */
function flatten(data: NestedArray, flat: Element[], depth: number): number[] {
  check(depth <= MAX_RANK, () => `nested arrays may be ${MAX_RANK} deep; these are deeper, or in themselves`)
  if (!Array.isArray(data)) {
    if (typeof data !== 'number' && typeof data !== 'bigint' && typeof data !== 'boolean') {
      throw new PtliteError('INVALID_ARGUMENT', `expected numbers in nested arrays, found ${kindOf(data)}`)
    }
    flat.push(data)
    return []
  }
  let inner: number[] | null = null
  for (const item of data as readonly NestedArray[]) {
    const shape = flatten(item, flat, depth + 1)
    inner ??= shape
    if (!sameShape(shape, inner)) {
      throw new PtliteError('INVALID_ARGUMENT', `nested arrays must all have one shape, found ${shapeText(inner)} and ${shapeText(shape)}`)
    }
  }
  return [data.length, ...(inner ?? [])]
}
