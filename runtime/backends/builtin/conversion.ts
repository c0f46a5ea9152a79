import { check, PtliteError } from '../../error.js'
import { anyItemOf } from '../../tensor/complex-item.js'
import { itemOf, readTensor } from '../../tensor/data.js'
import { isComplex, isIntegral } from '../../tensor/dtype.js'
import { type AnyScalar, Complex, type Int, type Scalar } from '../../tensor/scalar.js'
import { numelOf } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { Device } from '../../tensor/value.js'
import { intFromDouble } from './support/integer.js'
import { parseDouble, parseInt64 } from './support/parse-number.js'
import { intOf, isFloat, type Real } from './support/scalar.js'
import { valueText } from './support/value-text.js'
import type { Value } from '../../tensor/value.js'

/* Conversions between tensors, numbers, bools and strings. A tensor must have exactly one element. */

export function bool_of(a: Real): boolean {
  return Number(a) !== 0
}

export function bool_of_tensor(a: Tensor): boolean {
  check(numelOf(a.shape) === 1, () => `the truth value of a tensor with ${numelOf(a.shape)} elements is ambiguous`)
  if (isComplex(a.type)) return readTensor(a).some((part) => part !== 0)
  const item = itemOf(a)
  return typeof item === 'boolean' ? item : Number(item) !== 0
}

/** An int, or a float truncated toward zero. Throws INVALID_ARGUMENT where `bits` do not hold the float. */
function intOfScalar(value: Scalar, bits: 32 | 64): Int {
  if (!isFloat(value)) return intOf(value)
  const limit = 2 ** (bits - 1)
  check(value.value > -limit - 1 && value.value < limit, () => `expected a number of ${bits} bits, found ${value.value}`)
  return intFromDouble(value.value)
}

export function int_of_tensor(a: Tensor): Int {
  return intOfScalar(itemOf(a), 64)
}

export function int_of_bool(a: boolean): Int {
  return Number(a)
}

/** Truncated toward zero; INT64_MIN for whatever does not fit. */
export function int_of_float(a: number): Int {
  return intFromDouble(a)
}

/** A float has to fit 32 bits, as in PyTorch. */
export function int_of_scalar(a: Scalar): Int {
  return intOfScalar(a, 32)
}

export function int_of_str(a: string): Int {
  return parseInt64(a)
}

export function float_of_tensor(a: Tensor): number {
  return Number(itemOf(a))
}

/** Of a complex number the real part, as in PyTorch. */
export function float_of_scalar(a: AnyScalar): number {
  return a instanceof Complex ? a.re : Number(a)
}

/** Rounded to single precision on the way, as in PyTorch. */
export function float_of_int(a: Int): number {
  return Math.fround(Number(a))
}

export function float_of_bool(a: boolean): number {
  return Number(a)
}

export function float_of_str(a: string): number {
  return parseDouble(a)
}

function checkImplicit(a: Tensor): void {
  check(a.dim === 0, () => `expected a tensor without dimensions as a number, found shape [${a.shape.join(', ')}]`)
}

/** A tensor given for an int argument: 0-d and of an integral dtype other than bool. */
export function int_implicit(a: Tensor): Int {
  checkImplicit(a)
  check(isIntegral(a.type), () => `expected a tensor of integers as an integer, found ${a.dtype}`)
  return intOfScalar(itemOf(a), 64)
}

export function float_implicit(a: Tensor): number {
  checkImplicit(a)
  return Number(itemOf(a))
}

export function scalar_implicit(a: Tensor): AnyScalar {
  checkImplicit(a)
  return anyItemOf(a)
}

/** str() of any value. */
export function str_of(elem: Value): string {
  return valueText(elem)
}

function digits(i: Int, prefix: string, radix: number): string {
  const value = BigInt(i)
  return `${value < 0n ? '-' : ''}0${prefix}${(value < 0n ? -value : value).toString(radix)}`
}

export function hex(i: Int): string {
  return digits(i, 'x', 16)
}

export function oct(i: Int): string {
  return digits(i, 'o', 8)
}

export function bin(i: Int): string {
  return digits(i, 'b', 2)
}

const DEVICE_TYPES = new Set(
  'cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga ort xla lazy vulkan mps meta hpu privateuseone'.split(' '),
)

/** A device from its name, `cuda` or `cuda:1`. Throws MODEL_ERROR for other texts. */
export function device_of(a: string): Device {
  const match = /^([a-z_]+)(?::(0|[1-9]\d*))?$/.exec(a)
  if (match === null || !DEVICE_TYPES.has(match[1]!)) throw new PtliteError('MODEL_ERROR', `RuntimeError: invalid device string: '${a}'`)
  return new Device(match[1]!, match[2] === undefined ? null : Number(match[2]))
}

/** A device from its type and index. Throws MODEL_ERROR for other types. */
export function device_with_index(type: string, index: Int): Device {
  return device_of(`${type}:${index}`)
}

export function device_type(self: Device): string {
  return self.type
}

export function device_index(self: Device): Int | null {
  return self.index
}
