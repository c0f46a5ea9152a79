import * as composite from '../composite/index.js'
import * as at from '../generated/dispatch.js'
import { check } from '../../error.js'
import { elementScalar, readTensor } from '../../tensor/data.js'
import { isComplex } from '../../tensor/dtype.js'
import type { TensorOptions } from '../../tensor/options.js'
import { resize } from '../../tensor/out.js'
import type { Scalar } from '../../tensor/scalar.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'

/** Copies a result into an `out` tensor, which takes the result's shape and keeps its dtype. */
export function writeOut(out: Tensor, result: Tensor): Tensor {
  if (!sameShape(out.shape, result.shape)) resize(out, result.shape)
  return at.copy_(out, result, false)
}

/** writeOut for each tensor of a list; both must have as many. */
export function writeOuts(outs: readonly Tensor[], results: readonly Tensor[]): void {
  check(outs.length === results.length, () => `expected ${results.length} out tensors, found ${outs.length}`)
  results.forEach((result, i) => writeOut(outs[i]!, result))
}

/** The results of `call` for each position of the lists, which are equally long and not empty. */
export function each<T>(lists: readonly (readonly unknown[])[], call: (i: number) => T): T[] {
  const count = lists[0]!.length
  check(count > 0, () => 'expected at least one tensor')
  for (const list of lists) check(list.length === count, () => `expected lists of ${count} elements, found one of ${list.length}`)
  return Array.from({ length: count }, (_, i) => call(i))
}

/** The one tensor that goes with every tensor of a list. */
export function zeroDim(tensor: Tensor): Tensor {
  check(tensor.dim === 0, () => `expected a tensor without dimensions, found shape ${shapeText(tensor.shape)}`)
  return tensor
}

/** The elements of a contiguous vector, each to go with one tensor of a list. */
export function scalarsOf(tensor: Tensor): Scalar[] {
  check(
    tensor.dim === 1 && tensor.isContiguous,
    () => `expected a contiguous tensor of 1 dimension, found shape ${shapeText(tensor.shape)}`,
  )
  check(!isComplex(tensor.type), () => 'expected real numbers, found complex ones')
  return Array.from(readTensor(tensor) as Float64Array, (raw) => elementScalar(raw, tensor))
}

export function copyOf(tensor: Tensor): Tensor {
  return composite.clone(tensor, null)
}

/** Copies of tensors, each in memory of its own. */
export function copyOfEach(tensors: readonly Tensor[]): Tensor[] {
  return tensors.map(copyOf)
}

/** The options of a factory whose result goes into `out`. */
export function optionsOf(out: Tensor): TensorOptions {
  return { dtype: out.type, layout: null, device: null, pinMemory: null }
}
