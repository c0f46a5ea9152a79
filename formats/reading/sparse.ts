import { damaged, integerOf, sizesOf, unexpected } from '../../program/file-error.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Layout } from '../../runtime/tensor/options.js'
import { SparseTensor } from '../../runtime/tensor/sparse.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { type TensorPool, unsupportedValue } from './tensor-pool.js'
import * as features from '../../runtime/features.js'
import { absent } from '../../runtime/error.js'

/** A sparse tensor of a pickle: layout, size, requires_grad, its parts and hooks. Indices are checked where they are first used. */
export function sparseOf([layout, size, , ...parts]: readonly Value[], pool: TensorPool): Value {
  if (!features.sparse) throw absent('the reader of sparse tensors', 'UNSUPPORTED_FILE')
  const code = integerOf(layout, 0)
  const shape = sizesOf(size)
  const tensorAt = (i: number): Tensor => {
    const part = parts[i]
    if (!(part instanceof Tensor)) throw unexpected('a part of a sparse tensor', part)
    return part
  }
  if (!shape.every((n) => n >= 0)) throw damaged(`a sparse tensor has the sizes [${shape.join(', ')}]; expected numbers of at least 0`)
  try {
    if (code === Layout.sparse) return pool.adopt(coordinates(tensorAt(0), tensorAt(1), shape))
    if (code === Layout.sparseCsr || code === Layout.sparseCsc) {
      return pool.adopt(SparseTensor.compressed(code, tensorAt(0), tensorAt(1), tensorAt(2), shape))
    }
  } catch (error) {
    throw damaged(`a sparse tensor: ${(error as Error).message}`)
  }
  return unsupportedValue('a sparse tensor of blocks')
}

function coordinates(indices: Tensor, values: Tensor, shape: readonly number[]): SparseTensor {
  const dims = indices.shape[0] ?? 0
  const fits =
    indices.type === DType.int64 &&
    indices.dim === 2 &&
    values.dim > 0 &&
    values.shape[0] === indices.shape[1] &&
    values.shape.slice(1).join() === shape.slice(dims).join() &&
    dims <= shape.length
  if (!fits)
    throw damaged(`indices [${indices.shape.join(', ')}] and values [${values.shape.join(', ')}] for the size [${shape.join(', ')}]`)
  return new SparseTensor(indices, values, shape, false)
}
