import { sequenceLengths } from '../../tensor/sparse.js'
import type { Tensor } from '../../tensor/tensor.js'
import type { Value } from '../../tensor/value.js'

/** Devices and layouts that tensors never have here. */
export function is_never(_a: Tensor): boolean {
  return false
}

export function is_nested(a: Tensor): boolean {
  return sequenceLengths(a) !== null
}

export function always(): boolean {
  return true
}

export function never(): boolean {
  return false
}

/** As never, for an operator with arguments. */
export function never_of(_rest: Value[]): boolean {
  return false
}
