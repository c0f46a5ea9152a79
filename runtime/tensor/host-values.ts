import { PtliteError } from '../error.js'
import { readTensor, writeTensor } from './data.js'
import { DType, isIntegral } from './dtype.js'
import { empty, type Tensor } from './tensor.js'

/** The elements of a tensor of integers or bools as numbers, row by row. Throws INVALID_DTYPE for others. */
export function readInts(t: Tensor): number[] {
  if (!isIntegral(t.type, true)) throw new PtliteError('INVALID_DTYPE', `expected a tensor of integers, found ${t.dtype}`)
  return Array.from(readTensor(t), Number)
}

/** What operators that compute values in JavaScript may make at most: 1 GiB of doubles. */
const MAX_VALUES = 2 ** 27

/** Throws OUT_OF_MEMORY where `count` values are more than JavaScript should hold; returns it otherwise. */
export function checkValueCount(count: number): number {
  if (count <= MAX_VALUES) return count
  throw new PtliteError(
    'OUT_OF_MEMORY',
    `a result of ${count} values is more than the ${MAX_VALUES} that this operator makes; ask for less`,
  )
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
