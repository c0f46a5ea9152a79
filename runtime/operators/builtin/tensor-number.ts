import { check } from '../../error.js'
import { anyItemOf, itemOf, readTensor } from '../../tensor/data.js'
import { isComplex, isIntegral } from '../../tensor/dtype.js'
import type { AnyScalar, Int } from '../../tensor/scalar.js'
import { numelOf } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { intOfScalar } from './conversion.js'

export function bool_of_tensor(a: Tensor): boolean {
  check(numelOf(a.shape) === 1, () => `the truth value of a tensor with ${numelOf(a.shape)} elements is ambiguous`)
  if (isComplex(a.type)) return readTensor(a).some((part) => part !== 0)
  const item = itemOf(a)
  return typeof item === 'boolean' ? item : Number(item) !== 0
}

export function int_of_tensor(a: Tensor): Int {
  return intOfScalar(itemOf(a), 64)
}

export function float_of_tensor(a: Tensor): number {
  return Number(itemOf(a))
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
