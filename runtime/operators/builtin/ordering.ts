import type { Int, Scalar } from '../../tensor/scalar.js'
import { compareBytes } from './support/bytes.js'
import { type Real, scalarBinary } from './support/scalar.js'
import { gt_float, gt_int, lt_float, lt_int } from './comparison.js'

export function lt_Scalar(a: Scalar, b: Scalar): boolean {
  return scalarBinary(a, b, lt_int, lt_float)
}

export function lt_str(a: string, b: string): boolean {
  return compareBytes(a, b) < 0
}

export function gt_Scalar(a: Scalar, b: Scalar): boolean {
  return scalarBinary(a, b, gt_int, gt_float)
}

export function gt_str(a: string, b: string): boolean {
  return compareBytes(a, b) > 0
}

export function le_int(a: Int, b: Int): boolean {
  return a <= b
}

export function le_float(a: Real, b: Real): boolean {
  return Number(a) <= Number(b)
}

export function le_Scalar(a: Scalar, b: Scalar): boolean {
  return scalarBinary(a, b, le_int, le_float)
}

export function le_str(a: string, b: string): boolean {
  return compareBytes(a, b) <= 0
}

export function ge_int(a: Int, b: Int): boolean {
  return a >= b
}

export function ge_float(a: Real, b: Real): boolean {
  return Number(a) >= Number(b)
}

export function ge_Scalar(a: Scalar, b: Scalar): boolean {
  return scalarBinary(a, b, ge_int, ge_float)
}

export function ge_str(a: string, b: string): boolean {
  return compareBytes(a, b) >= 0
}
