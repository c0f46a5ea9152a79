import { PtliteError } from '../runtime/error.js'
import { DType, dtypeFromName, type DTypeName, isQuantized } from '../runtime/tensor/dtype.js'
import { arrayTypeOf, type TypedArray, writeTensor } from '../runtime/tensor/data.js'
import { numelOf } from '../runtime/tensor/shape.js'
import { empty, type Tensor } from '../runtime/tensor/tensor.js'

/** Nested arrays of numbers, bigints or booleans, all of one shape. */
export type NestedArray = number | bigint | boolean | readonly NestedArray[]

const DTYPE_OF_ARRAY: ReadonlyMap<unknown, DTypeName> = new Map<unknown, DTypeName>([
  [Float32Array, 'float32'],
  [Float64Array, 'float64'],
  [Int8Array, 'int8'],
  [Uint8Array, 'uint8'],
  [Uint8ClampedArray, 'uint8'],
  [Int16Array, 'int16'],
  [Int32Array, 'int32'],
  [BigInt64Array, 'int64'],
])

/**
 * A new tensor with a copy of `data`: a typed array, or numbers in nested arrays. Without `dtype` a typed array
 * keeps its own (Uint16Array has none: name float16 or bfloat16); numbers become float32, bigints int64, booleans
 * bool. Without `shape` it is the nesting, or one dimension. Throws INVALID_ARGUMENT where lengths do not fit.
 */
export function tensor(data: TypedArray | NestedArray, shape?: readonly number[], dtype?: DTypeName): Tensor {
  if (ArrayBuffer.isView(data)) return fromTypedArray(data, shape ?? [data.length], dtype)
  const flat: (number | bigint | boolean)[] = []
  const nested = flatten(data, flat)
  const name = dtype ?? (typeof flat[0] === 'boolean' ? 'bool' : typeof flat[0] === 'bigint' ? 'int64' : 'float32')
  const type = dtypeFromName(name)
  const sizes = checkShape(shape ?? nested, flat.length)
  const ArrayType = arrayTypeOf(type)
  if (type === DType.float16 || type === DType.bfloat16 || isQuantized(type)) {
    throw new PtliteError('INVALID_ARGUMENT', `${name} data must be a ${ArrayType.name} of raw bits`)
  }
  const array = new ArrayType(flat.length)
  if (array instanceof BigInt64Array) for (let i = 0; i < flat.length; i++) array[i] = toBigInt(flat[i]!)
  else for (let i = 0; i < flat.length; i++) array[i] = name === 'bool' ? Number(Boolean(flat[i])) : Number(flat[i])
  return store(array, sizes, type)
}

function fromTypedArray(data: TypedArray, shape: readonly number[], dtype: DTypeName | undefined): Tensor {
  const name = dtype ?? DTYPE_OF_ARRAY.get(data.constructor)
  if (name === undefined) throw new PtliteError('INVALID_ARGUMENT', `name the dtype of a ${data.constructor.name}: float16 or bfloat16`)
  const type = dtypeFromName(name)
  const sizes = checkShape(shape, data.length)
  const ArrayType = arrayTypeOf(type)
  if (data instanceof ArrayType) return store(data, sizes, type)
  if (type === DType.float16 || type === DType.bfloat16 || isQuantized(type)) {
    throw new PtliteError('INVALID_ARGUMENT', `${name} data must be a ${ArrayType.name}, found ${data.constructor.name}`)
  }
  if (ArrayType === BigInt64Array) return store(BigInt64Array.from(data as ArrayLike<number | bigint>, toBigInt), sizes, type)
  const numbers = Array.from(data as ArrayLike<number | bigint>, Number)
  return store(new (ArrayType as Float64ArrayConstructor)(name === 'bool' ? numbers.map((x) => Number(x !== 0)) : numbers), sizes, type)
}

function store(data: TypedArray, shape: readonly number[], type: DType): Tensor {
  const t = empty(shape, type)
  t.pinned = true
  t.storage.watch()
  writeTensor(t, data)
  return t
}

function toBigInt(x: number | bigint | boolean): bigint {
  if (typeof x === 'number' && !Number.isInteger(x)) throw new PtliteError('INVALID_ARGUMENT', `int64 data must be integers, found ${x}`)
  return BigInt(x)
}

function checkShape(shape: readonly number[], length: number): number[] {
  for (const size of shape) {
    if (!Number.isSafeInteger(size) || size < 0)
      throw new PtliteError('INVALID_ARGUMENT', `sizes must be integers of at least 0, found ${size}`)
  }
  const n = numelOf(shape)
  if (n !== length) throw new PtliteError('INVALID_ARGUMENT', `shape [${shape.join(', ')}] needs ${n} elements, found ${length}`)
  return [...shape]
}

/** Appends the numbers of `data` to `flat` and returns its shape. */
function flatten(data: NestedArray, flat: (number | bigint | boolean)[]): number[] {
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
    if (inner !== null && shape.join() !== inner.join()) {
      throw new PtliteError(
        'INVALID_ARGUMENT',
        `nested arrays must all have one shape, found [${inner.join(', ')}] and [${shape.join(', ')}]`,
      )
    }
    inner = shape
  }
  return [data.length, ...(inner ?? [])]
}
