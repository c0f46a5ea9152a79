import { type AnyScalar, Complex, type Int } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { Device, Value } from '../../tensor/value.js'
import { eq_complex } from './complex.js'
import { sameDevice, sameEnum, sameFloats, sameIdentity, sameItems, sameTensors } from './support/equality.js'
import { operandOf, type Real, scalarBinary } from './support/scalar.js'

/*
 * Comparisons. `_int` compares exactly; `_float` in doubles, also an int with a float; strings by their bytes.
 */

export function eq_int(a: Int, b: Int): boolean {
  return a === b
}

export function eq_float(a: Real, b: Real): boolean {
  return Number(a) === Number(b)
}

export function eq_Scalar(a: AnyScalar, b: AnyScalar): boolean {
  if (a instanceof Complex || b instanceof Complex) return eq_complex(operandOf(a), operandOf(b))
  return scalarBinary(a, b, eq_int, eq_float)
}

export function ne_int(a: Int, b: Int): boolean {
  return a !== b
}

export function ne_float(a: Real, b: Real): boolean {
  return Number(a) !== Number(b)
}

export function ne_Scalar(a: AnyScalar, b: AnyScalar): boolean {
  return !eq_Scalar(a, b)
}

export function lt_int(a: Int, b: Int): boolean {
  return a < b
}

export function lt_float(a: Real, b: Real): boolean {
  return Number(a) < Number(b)
}

export function gt_int(a: Int, b: Int): boolean {
  return a > b
}

export function gt_float(a: Real, b: Real): boolean {
  return Number(a) > Number(b)
}

/** Bools and strings. */
export function eq_value(a: boolean | string, b: boolean | string): boolean {
  return a === b
}

export function ne_value(a: boolean | string, b: boolean | string): boolean {
  return a !== b
}

/** `cpu` and `cpu:0` differ. */
export function eq_device(a: Device, b: Device): boolean {
  return sameDevice(a, b)
}

export function ne_device(a: Device, b: Device): boolean {
  return !sameDevice(a, b)
}

/** Lists of ints, bools or strings. */
export function eq_list(a: Value[], b: Value[]): boolean {
  return sameItems(a, b)
}

export function ne_list(a: Value[], b: Value[]): boolean {
  return !sameItems(a, b)
}

export function eq_float_list(a: Value[], b: Value[]): boolean {
  return sameFloats(a, b)
}

export function ne_float_list(a: Value[], b: Value[]): boolean {
  return !sameFloats(a, b)
}

/** Throws INVALID_ARGUMENT where a pair of tensors does not have exactly one element each. */
export function eq_tensor_list(a: Tensor[], b: Tensor[]): boolean {
  return a.length === b.length && a.every((t, i) => sameTensors(t, b[i]!))
}

export function ne_tensor_list(a: Tensor[], b: Tensor[]): boolean {
  return !eq_tensor_list(a, b)
}

export function eq_enum(a: Value, b: Value): boolean {
  return sameEnum(a, b)
}

export function ne_enum(a: Value, b: Value): boolean {
  return !sameEnum(a, b)
}

/** `is`: the same object, for numbers, strings and devices the same value. */
export function is(self: Value, obj: Value): boolean {
  return sameIdentity(self, obj)
}

export function isnot(self: Value, obj: Value): boolean {
  return !sameIdentity(self, obj)
}
