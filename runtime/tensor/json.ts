import { check, PtliteError } from '../error.js'
import { latin1, latin1TextOf } from '../encoding.js'
import { boolean, checkOptions, reading } from './check-arguments.js'
import { arrayTypeOf, elementValue, readTensor, type TypedArray } from './data.js'
import { DType, type DTypeName, dtypeFromName, holdsComplex, isComplex, isFloat8, isFloating, itemSize, isQuantized } from './dtype.js'
import { numberToFloat8 } from './float8.js'
import { isHalf, numberToBfloat16, numberToHalf } from './half.js'
import { kindOf } from './kind-of.js'
import type { Quant } from './quant.js'
import { numelOf, shapeText, sizesOf } from './shape.js'
import { Tensor } from './tensor.js'

/* Tensors as JSON, whole, and back. */

/**
 * An element: what JSON has no number for is text, which is `NaN`, `Infinity`, `-Infinity`, `-0` and integers beyond 2^53. Complex numbers are pairs.
 * Of quantized tensors the integers.
 */
export type JSONElement = number | string | boolean | readonly [real: number | string, imaginary: number | string]

/** What `JSON.stringify` makes of a tensor, and `Tensor.fromJSON` reads. */
export interface TensorJSON {
  /** Of the elements. */
  readonly dtype: DTypeName
  /** Sizes of its dimensions. */
  readonly shape: readonly number[]
  /** The elements in row-major order; as text the base64 of their bytes, little-endian ones, as `data()` has them. */
  readonly data: readonly JSONElement[] | string
  /** Of quantized tensors. */
  readonly quant?: Quant
}

/** What `toJSON` takes. */
export interface JSONOptions {
  /** The bytes of the elements, in place of numbers: a third of the length, and exact. */
  readonly base64?: boolean | undefined
}

/** Elements beyond which numbers would make a text longer than JavaScript has. */
const MAX_NUMBERS = 2 ** 24
/** Bytes of which base64 is a text that JavaScript has. */
const MAX_BYTES = 3 * 2 ** 27

/** A tensor as what JSON can hold. Throws DISPOSED, and OUT_OF_MEMORY beyond 2^24 elements (403 MB with `base64`). */
export function tensorAsJSON(t: Tensor, options: JSONOptions): TensorJSON {
  reading(() => checkOptions(options, { base64: boolean } satisfies Record<keyof JSONOptions, unknown>, 'toJSON()'))
  const { dtype, quant, numel } = t
  const bytes = numel * t.itemSize
  const isText = options.base64 === true
  const most = isText ? MAX_BYTES / t.itemSize : MAX_NUMBERS
  if (numel > most)
    throw new PtliteError(
      'OUT_OF_MEMORY',
      `a tensor of shape ${shapeText(t.shape)} has ${bytes} bytes, more than JSON can hold${isText ? '' : '; toJSON({ base64: true }) takes more'}`,
    )
  const raw = readTensor(t)
  const data = isText ? btoa(latin1TextOf(bytesOf(raw))) : elementsOf(raw, t)
  return { dtype, shape: [...t.shape], data, ...(quant === null ? {} : { quant }) }
}

function bytesOf(raw: TypedArray): Uint8Array {
  return new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength)
}

function elementsOf(raw: TypedArray, { type }: Tensor): JSONElement[] {
  const values = Array.from(raw as ArrayLike<number | bigint>)
  if (!holdsComplex({ type })) return values.map((value) => plain(elementValue(value, type)))
  return Array.from({ length: values.length / 2 }, (_, i) => [plain(Number(values[2 * i])), plain(Number(values[2 * i + 1]))] as const)
}

function plain<T extends number | bigint | boolean>(value: T): Exclude<T, bigint> | string {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? (Number(value) as Exclude<T, bigint>) : `${value}`
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) return Object.is(value, -0) ? '-0' : `${value}`
  return value as Exclude<T, bigint>
}

/** The tensor of what `tensorAsJSON` gave, or its text. Throws INVALID_ARGUMENT for anything else. */
export function tensorOfJSON(given: unknown): Tensor {
  return reading(() => {
    const json = (typeof given === 'string' ? parsed(given) : given) as Partial<TensorJSON> | null
    if (typeof json !== 'object' || json === null) throw new PtliteError('INVALID_ARGUMENT', `${EXPECTED}, found ${kindOf(json)}`)
    const { dtype, shape: sizes, data, quant = null } = json
    if (dtype === undefined || sizes === undefined || data === undefined) throw new PtliteError('INVALID_ARGUMENT', EXPECTED)
    const type = dtypeFromName(dtype)
    const shape = sizesOf(sizes, 'shape')
    const elements = numelOf(shape)
    const storage = typeof data === 'string' ? arrayOfBase64(data, type, elements) : arrayOfElements(data, type, elements)
    return Tensor.fromStorage(storage, { dtype, shape, quant: isQuantized(type) ? quant : null })
  })
}

const EXPECTED = 'expected what tensor.toJSON() gives: dtype, shape and data'

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `${EXPECTED}, found text that is no JSON`, { cause })
  }
}

function arrayOfBase64(text: string, type: DType, elements: number): TypedArray {
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = latin1(atob(text))
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', 'data is text, and not base64', { cause })
  }
  const needed = elements * itemSize(type)
  check(bytes.length === needed, () => `data has ${bytes.length} bytes, the shape needs ${needed}`)
  return new (arrayTypeOf(type))(bytes.buffer)
}

function arrayOfElements(data: unknown, type: DType, elements: number): TypedArray {
  if (!Array.isArray(data)) throw new PtliteError('INVALID_ARGUMENT', `expected data, an array or base64, found ${kindOf(data)}`)
  check(data.length === elements, () => `data has ${data.length} elements, the shape needs ${elements}`)
  const isPair = isComplex(type)
  const array = new (arrayTypeOf(type))((isPair ? 2 : 1) * elements)
  const toRaw = rawOf(type)
  if (isPair)
    data.forEach((pair: unknown, i) => {
      check(Array.isArray(pair) && pair.length === 2, () => `data[${i}]: expected a pair of numbers, found ${kindOf(pair)}`)
      ;[array[2 * i], array[2 * i + 1]] = (pair as unknown[]).map((part) => toRaw(part, i)) as [number, number]
    })
  else for (let i = 0; i < elements; i++) array[i] = toRaw(data[i], i)
  return array
}

/** What gives the raw element of a JSON element. */
function rawOf(type: DType): (element: unknown, i: number) => number | bigint {
  const wrong = (element: unknown, i: number, expected: string): PtliteError =>
    new PtliteError(
      'INVALID_ARGUMENT',
      `data[${i}]: expected ${expected}, found ${typeof element === 'string' ? JSON.stringify(element.slice(0, 40)) : kindOf(element)}`,
    )
  if (type === DType.bool)
    return (element, i) => {
      if (typeof element !== 'boolean') throw wrong(element, i, 'true or false')
      return element ? 1 : 0
    }
  if (isFloating(type) || isComplex(type)) {
    const round = isHalf(type) ? (type === DType.float16 ? numberToHalf : numberToBfloat16) : (x: number): number => x
    return (element, i) => {
      const isNumber = typeof element === 'number' || (typeof element === 'string' && /^(NaN|-?Infinity|-0)$/.test(element))
      if (!isNumber) throw wrong(element, i, 'a number')
      return isFloat8(type) ? numberToFloat8(Number(element), type) : round(Number(element))
    }
  }
  const ArrayType = arrayTypeOf(type)
  const one = new ArrayType(1)
  const isLong = itemSize(type) === 8
  return (element, i) => {
    const isInteger = Number.isSafeInteger(element) || (isLong && typeof element === 'string' && /^-?\d{1,20}$/.test(element))
    if (!isInteger) throw wrong(element, i, 'an integer')
    const value = isLong ? BigInt(element as number | string) : (element as number)
    one[0] = value
    if (one[0] !== value) throw wrong(element, i, `an integer that the dtype holds`)
    return value
  }
}
