import { check, PtliteError } from '../runtime/error.js'
import { nativeHost } from '../runtime/native/library.js'
import { arrayTypeOf, readTensor, writeTensor } from '../runtime/tensor/data.js'
import { type DType, dtypeName } from '../runtime/tensor/dtype.js'
import { noteWrite } from '../runtime/tensor/observe.js'
import { sameShape, shapeText } from '../runtime/tensor/shape.js'
import { empty, Tensor } from '../runtime/tensor/tensor.js'
import { callOperator } from './values/operators.js'

/*
 * Functions of shared libraries as operators: what the files that `ptlite codegen --ops` writes for entries with `c` are made of. Everything that can be
 * checked is before a call: dtypes, shapes and numbers; the function is believed to touch no more than its prototype and the shapes say.
 */

/** What of koffi is used. */
export interface ForeignFunctions {
  load(path: string): { func(name: string, result: string, parameters: string[]): CFunction }
}

export type CFunction = (...args: unknown[]) => unknown

/** A file, or one for each platform by Node's name of it. */
export type CLibrary = string | Readonly<Record<string, string>>

/** The function of a library, which is opened at the first use. Throws NATIVE_LIBRARY where there is no such file or function. */
export function declare(koffi: ForeignFunctions, library: CLibrary, name: string, result: string, parameters: string[]): () => CFunction {
  let found: CFunction | undefined
  return () => (found ??= open(koffi, library, name, result, parameters))
}

function open(koffi: ForeignFunctions, library: CLibrary, name: string, result: string, parameters: string[]): CFunction {
  // addresses of tensors are those of this process
  nativeHost()
  const path = typeof library === 'string' ? library : library[process.platform]
  if (path === undefined) throw new PtliteError('NATIVE_LIBRARY', `${name}: no library is named for ${process.platform}`)
  try {
    return koffi.load(path).func(name, result, parameters)
  } catch (cause) {
    throw new PtliteError('NATIVE_LIBRARY', `${name} of ${path}: ${(cause as Error).message}`, { cause })
  }
}

/** The tensor itself, or a dense copy. Throws INVALID_DTYPE where it has another dtype. */
export function dense(operator: string, name: string, tensor: Tensor, type: DType): Tensor {
  if (tensor.type !== type) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: '${name}' must be ${dtypeName(type)}, found ${tensor.dtype}; convert it with to()`)
  }
  return tensor.isContiguous ? tensor : callOperator<Tensor>('aten::contiguous', [tensor])
}

/** What was written to the dense form of an argument becomes the argument's. */
export function finish(argument: Tensor, written: Tensor): void {
  if (argument !== written) callOperator('aten::copy_', [argument, written])
  else noteWrite(Tensor.own(argument))
}

export function checkRank(operator: string, name: string, tensor: Tensor, rank: number): void {
  check(tensor.dim === rank, () => `${operator}: '${name}' must have ${rank} dimensions, found shape ${shapeText(tensor.shape)}`)
}

export function checkSize(operator: string, name: string, tensor: Tensor, dim: number, size: number): void {
  check(
    tensor.shape[dim] === size,
    () => `${operator}: '${name}' must have size ${size} in dimension ${dim}, found shape ${shapeText(tensor.shape)}`,
  )
}

export function checkCount(operator: string, name: string, tensor: Tensor, count: number): void {
  check(tensor.numel === count, () => `${operator}: '${name}' must have ${count} elements, found shape ${shapeText(tensor.shape)}`)
}

export function checkShape(operator: string, name: string, tensor: Tensor, shape: readonly number[]): void {
  check(
    sameShape(tensor.shape, shape),
    () => `${operator}: '${name}' must have shape ${shapeText(shape)}, found ${shapeText(tensor.shape)}`,
  )
}

/** Throws INVALID_ARGUMENT for what is no whole number of so many bits. */
export function integer(operator: string, name: string, value: number, bits: number, isSigned: boolean): number {
  const limit = 2 ** Math.min(isSigned ? bits - 1 : bits, 53)
  const fits = Number.isSafeInteger(value) && value < limit && value >= (isSigned ? -limit : 0)
  check(
    fits,
    () => `${operator}: '${name}' must be a whole number of ${bits} bits${isSigned ? '' : ' that is not negative'}, found ${value}`,
  )
  return value
}

/** Throws INVALID_ARGUMENT for a text that C would take for a shorter one. */
export function text(operator: string, name: string, value: string): string {
  check(!value.includes('\0'), () => `${operator}: '${name}' has a zero within`)
  return value
}

const ARRAYS = {
  float: Float32Array,
  double: Float64Array,
  int8_t: Int8Array,
  uint8_t: Uint8Array,
  int16_t: Int16Array,
  uint16_t: Uint16Array,
  int32_t: Int32Array,
  uint32_t: Uint32Array,
  int64_t: BigInt64Array,
  uint64_t: BigUint64Array,
  bool: Uint8Array,
} as const

/** A list as an array in C. */
export function numbers(operator: string, name: string, values: readonly (number | boolean)[], type: keyof typeof ARRAYS): ArrayBufferView {
  const [, unsigned, bits] = /^(u?)int(\d+)_t$/.exec(type) ?? []
  const checked = values.map((value) =>
    bits === undefined ? Number(value) : integer(operator, name, Number(value), Number(bits), unsigned === ''),
  )
  return bits === '64' ? ARRAYS[type as 'int64_t'].from(checked, BigInt) : (ARRAYS[type] as Float64ArrayConstructor).from(checked)
}

/** Throws INVALID_ARGUMENT where a function gave something else than 0. */
export function checkStatus(operator: string, status: unknown): void {
  check(Number(status) === 0, () => `${operator}: the function failed with ${String(status)}`)
}

export function givenInt(operator: string, value: unknown): number {
  check(Number.isSafeInteger(Number(value)), () => `${operator}: the function gave ${String(value)}, which no number holds exactly`)
  return Number(value)
}

export function givenFloat(_operator: string, value: unknown): number {
  return Number(value)
}

export function givenBool(_operator: string, value: unknown): boolean {
  return value === true
}

/** An operand of which each element is a value. */
export interface Elements {
  readonly name: string
  readonly tensor: Tensor
  readonly type: DType
}

/** A function of numbers, called for each element of tensors that broadcast. */
export function elements(
  operator: string,
  call: CFunction,
  operands: readonly (Elements | number | boolean | string)[],
  type: DType,
): Tensor {
  const tensors = operands.filter((operand) => typeof operand === 'object')
  const given = tensors.map(({ name, tensor, type }) => dense(operator, name, tensor, type))
  const broadcast = given.length > 1 ? callOperator<Tensor[]>('aten::broadcast_tensors', [given]) : given
  const arrays = broadcast.map((tensor) => readTensor(Tensor.own(tensor)))
  const result = empty(broadcast[0]!.shape, type)
  const sources = operands.map((operand) => (typeof operand === 'object' ? arrays[tensors.indexOf(operand)]! : operand))
  const values = new (arrayTypeOf(type))(result.numel)
  for (let i = 0; i < values.length; i++) {
    const value = call(...sources.map((source) => (typeof source === 'object' ? source[i] : source)))
    values[i] = (values instanceof BigInt64Array || values instanceof BigUint64Array ? BigInt(value as number) : Number(value)) as never
  }
  writeTensor(result, values)
  Tensor.expose(result)
  return result
}
