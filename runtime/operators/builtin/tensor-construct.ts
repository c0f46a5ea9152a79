import { check, PtliteError } from '../../error.js'
import { arrayTypeOf, itemOf, readTensor, writeTensor } from '../../tensor/data.js'
import { describe } from '../../tensor/describe.js'
import { DType, dtypeName, isComplex, isFloating, isQuantized, realOf } from '../../tensor/dtype.js'
import { type AnyScalar, Complex, Float, type Int } from '../../tensor/scalar.js'
import { CONTAINER_ELEMENTS } from '../../limits.js'
import { pace } from '../../pace.js'
import { growBy } from '../../tensor/element-budget.js'
import { checkValueCount } from '../../tensor/host-values.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { type Device, listType, type Value } from '../../tensor/value.js'
import { castTo } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import { elementOfFloat, elementOfInt, elementReader } from './support/element.js'
import { isFloat, intOf } from './support/scalar.js'

/*
 * Tensors from numbers and nested lists, and back. Numbers first become elements of the dtype their type stands for
 * (bool, int64, and float32 for floats) and are then converted to the one that is asked for, as in PyTorch.
 */

type Item = Int | Float | boolean

function initialType(item: Item): DType {
  return typeof item === 'boolean' ? DType.bool : item instanceof Float ? DType.float32 : DType.int64
}

function build(items: readonly Item[], shape: readonly number[], initial: DType, type: DType | null): Tensor {
  const target = type ?? initial
  check(!isQuantized(target), () => `expected a dtype of plain numbers, found ${dtypeName(target)}`)
  if (isComplex(target)) return castTo(build(items, shape, initial, realOf(target)), target)
  const out = empty(shape, target)
  const data = new (arrayTypeOf(target))(items.length)
  const slots: Record<number, number | bigint> = data
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    slots[i] = item instanceof Float ? elementOfFloat(target, Math.fround(item.value)) : elementOfInt(target, intOf(item))
  }
  writeTensor(out, data)
  return out
}

/** PyTorch's limit for tensors. */
const MAX_DIMENSIONS = 64

/** torch.tensor(list): the sizes are those of the first elements, and all others must agree. Throws INVALID_ARGUMENT. */
export function tensor_of_list(data: Value[], type: DType | null, _device: Device | null, _requires_grad: boolean): Tensor {
  return as_tensor_of_list(data, type, _device)
}

export function as_tensor_of_list(data: Value[], type: DType | null, _device: Device | null): Tensor {
  const shape: number[] = []
  let lists = 1
  for (let level: Value = data; Array.isArray(level); level = level[0] ?? null) {
    check(shape.length < MAX_DIMENSIONS, () => `expected lists at most ${MAX_DIMENSIONS} deep, found one that is deeper or holds itself`)
    shape.push(level.length)
    // those that are shared count each time
    lists = checkValueCount(lists * level.length)
  }
  growBy(numelOf(shape))
  const items: Item[] = []
  flatten(data, shape, 0, items)
  const initial = items.length > 0 ? initialType(items[0]!) : emptyType(data, type)
  const odd = items.find((item) => initialType(item) !== initial)
  check(odd === undefined, () => `expected elements of one type, found ${String(items[0])} and ${String(odd)}`)
  return build(items, shape, initial, type)
}

function flatten(value: Value, shape: readonly number[], level: number, into: Item[]): void {
  if (level === shape.length) {
    check(
      isItem(value),
      () => `expected ints, floats or bools in the list, found ${Array.isArray(value) ? 'a list' : value === null ? 'None' : typeof value}`,
    )
    into.push(value)
    return
  }
  const length = Array.isArray(value) ? value.length : -1
  check(length === shape[level], () => `expected a list of length ${shape[level]} at depth ${level}, found length ${length}`)
  pace(length)
  for (const item of value as Value[]) flatten(item, shape, level + 1, into)
}

function isItem(value: Value): value is Item {
  return value instanceof Float || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
}

/** The dtype of a list without elements: what the list was declared with, else the one asked for, else float32. */
function emptyType(data: Value[], asked: DType | null): DType {
  let list = data
  while (Array.isArray(list[0])) list = list[0]
  const element = innermost(listType(list) ?? listType(data) ?? '')
  if (element === 'int') return DType.int64
  if (element === 'bool') return DType.bool
  if (element === 'float' || element === '') return DType.float32
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `expected a list of ints, floats or bools${asked === null ? '' : ` for ${dtypeName(asked)}`}, found an empty list of ${element}`,
  )
}

/** `int` of `List[List[int]]`, and of `int[][]`. */
function innermost(type: string): string {
  let begin = 0
  let end = type.length
  while (type.startsWith('List[', begin)) begin += 5
  while (end > begin && (type[end - 1] === ']' || type[end - 1] === '[')) end--
  return type.slice(begin, end)
}

export function tensor_of_bool(t: boolean, type: DType | null, _device: Device | null, _requires_grad: boolean): Tensor {
  return build([t], [], DType.bool, type)
}

export function as_tensor_of_bool(t: boolean, type: DType | null, _device: Device | null): Tensor {
  return build([t], [], DType.bool, type)
}

export function tensor_of_int(t: Int, type: DType | null, _device: Device | null, _requires_grad: boolean): Tensor {
  return build([t], [], DType.int64, type)
}

export function as_tensor_of_int(t: Int, type: DType | null, _device: Device | null): Tensor {
  return build([t], [], DType.int64, type)
}

/** Throws INVALID_ARGUMENT for a finite number that float32 cannot hold. */
export function tensor_of_float(t: number, type: DType | null, _device: Device | null, _requires_grad: boolean): Tensor {
  return as_tensor_of_float(t, type, _device)
}

export function as_tensor_of_float(t: number, type: DType | null, _device: Device | null): Tensor {
  check(!Number.isFinite(t) || Number.isFinite(Math.fround(t)), () => `expected a number in the range of float32, found ${t}`)
  return build([new Float(t)], [], DType.float32, type)
}

/** Throws INVALID_ARGUMENT for finite parts that float32 cannot hold. */
export function tensor_of_complex(t: Complex, type: DType | null, _device: Device | null, _requires_grad: boolean): Tensor {
  return as_tensor_of_complex(t, type, _device)
}

/** A dtype that is neither complex nor bool takes the real part alone. */
export function as_tensor_of_complex(t: Complex, type: DType | null, _device: Device | null): Tensor {
  const rounded = single(t, DType.complex64)
  return type === DType.bool ? single(t, type) : castTo(rounded, type ?? DType.complex64)
}

function single(value: Complex, type: DType): Tensor {
  const out = empty([], type)
  fillScalar(out, value)
  return out
}

/** A 0-d tensor of int64, float64, complex128, or for a bool of a Scalar int64. */
export function num_to_tensor(a: AnyScalar): Tensor {
  if (a instanceof Complex) return single(a, DType.complex128)
  const out = empty([], isFloat(a) ? DType.float64 : DType.int64)
  writeTensor(out, isFloat(a) ? Float64Array.of(a.value) : BigInt64Array.of(BigInt(intOf(a))))
  return out
}

export function bool_to_tensor(a: boolean): Tensor {
  return build([a], [], DType.bool, null)
}

/** An int32 tensor of one dimension. */
export function list_to_tensor(self: Value[]): Tensor {
  for (const n of self) check(typeof n === 'number' && n === (n | 0), () => `expected integers of 32 bits, found ${describe(n)}`)
  return build(self as Int[], [self.length], DType.int64, DType.int32)
}

/** The elements of an int32 tensor of one dimension. */
export function tensor_to_list(self: Tensor): Value[] {
  check(
    self.type === DType.int32 && self.dim === 1,
    () => `expected an int32 tensor of one dimension, found ${self.dtype} with ${self.dim}`,
  )
  growBy(numelOf(self.shape))
  return Array.from(readTensor(self), Number)
}

const KINDS = ['int', 'float', 'bool', 'complex']

/**
 * tensor.tolist(): nested lists as deep as the tensor has dimensions, a number for none. The annotation in the program
 * says how deep (`dim`) and of which elements (0 int, 1 float, 2 bool). Throws INVALID_ARGUMENT where the tensor does not fit.
 */
export function to_list(self: Tensor, dim: Int, element_type: Int): Value {
  const kind = KINDS[Number(element_type)] ?? `kind ${element_type}`
  const fits = kind === 'float' ? isFloating(self.type) : self.type === (kind === 'int' ? DType.int64 : DType.bool)
  check(fits, () => `tolist() is declared to give ${kind}s, found a tensor of ${self.dtype}`)
  check(self.dim === Number(dim), () => `tolist() is declared to give lists of depth ${dim}, found a tensor with ${self.dim} dimensions`)
  if (self.dim === 0) return itemOf(self)
  // each level copies the elements of the one below, and has lists where these have no elements
  for (let d = 0; d < self.dim; d++) growBy(numelOf(self.shape) + CONTAINER_ELEMENTS * numelOf(self.shape.slice(0, d)))
  const read = elementReader(self.type)
  const value = (raw: number | bigint): Value => {
    pace(4)
    return read(raw)
  }
  return nested(Array.from<number | bigint, Value>(readTensor(self), value), self.shape)
}

function nested(items: readonly Value[], shape: readonly number[]): Value[] {
  if (shape.length === 1) return items.slice()
  const inner = shape.slice(1)
  const step = numelOf(inner)
  return Array.from({ length: shape[0]! }, (_, i) => nested(items.slice(i * step, (i + 1) * step), inner))
}
