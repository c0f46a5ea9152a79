import { readTensor, writeTensor } from './data.js'
import { DType } from './dtype.js'
import { empty, type Tensor } from './tensor.js'

/** The elements of an integer tensor as numbers, row by row. */
export function readInts(t: Tensor): number[] {
  return Array.from(readTensor(t), Number)
}

/** A new int64 tensor of these values. */
export function tensorOfInts(values: readonly number[], shape: readonly number[] = [values.length]): Tensor {
  const out = empty(shape, DType.int64)
  writeTensor(out, BigInt64Array.from(values, BigInt))
  return out
}

/** A new float64 tensor of these values. */
export function tensorOfDoubles(values: ArrayLike<number>, shape: readonly number[] = [values.length]): Tensor {
  const out = empty(shape, DType.float64)
  writeTensor(out, Float64Array.from(values))
  return out
}
