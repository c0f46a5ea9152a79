import { check } from '../../../error.js'
import { canCast } from '../../../tensor/dtype.js'
import { contiguousStrides, numelOf, sameShape } from '../../../tensor/shape.js'
import { Storage } from '../../../tensor/storage.js'
import type { Tensor } from '../../../tensor/tensor.js'
import { copyInto } from './copy.js'

/** The result itself, or `out` after it was given the result's shape and values. Throws where the dtypes do not allow it. */
export function deliver(result: Tensor, out: Tensor | undefined): Tensor {
  if (out === undefined || out === result) return result
  check(canCast(result.type, out.type), () => `a result of dtype ${result.dtype} cannot be written into a tensor of dtype ${out.dtype}`)
  if (!sameShape(out.shape, result.shape)) resize(out, result.shape)
  copyInto(out, result)
  return out
}

function resize(t: Tensor, shape: readonly number[]): void {
  const needed = numelOf(shape) * t.itemSize
  const storage = t.storage.byteLength - t.offset * t.itemSize >= needed ? t.storage : Storage.allocate(needed)
  t.become(storage, storage === t.storage ? t.offset : 0, shape, contiguousStrides(shape))
}
