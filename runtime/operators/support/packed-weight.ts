import * as kernels from '../../native/generated/kernels.js'
import { Storage } from '../../tensor/storage.js'
import type { Tensor } from '../../tensor/tensor.js'
import { derivedIn } from './kept-derived.js'

/** Which operand of the product a weight is: `a` (rows are outputs: convolution) or `b` (columns are outputs: linear). */
export const PackSide = { a: 0, b: 1 } as const

interface Use {
  storage: Storage
  version: number
  offset: number
  strides: readonly number[]
  /** Undefined after the first use: a weight that is used once is not worth packing. */
  packed: Storage | undefined
}

const uses = new WeakMap<Tensor, Use>()

/**
 * Address of a contiguous float weight [groups * outer][k] in the layout of the GEMM kernels, kept with the weight's
 * storage; 0 where it is not worth having: at the first use, for tensors that last no longer than a call, and for arguments of a run
 * that is being captured.
 */
export function packedWeight(weight: Tensor, side: number, groups: number, outer: number, k: number): number {
  const { storage } = weight
  if (!weight.pinned || storage.varies) return 0
  const use = uses.get(weight)
  if (
    use !== undefined &&
    use.storage === storage &&
    use.version === storage.version &&
    use.offset === weight.offset &&
    use.strides === weight.strides
  ) {
    if (use.packed?.live !== true) use.packed = packNow(weight, side, groups, outer, k)
    return use.packed.address
  }
  uses.set(weight, { storage, version: storage.version, offset: weight.offset, strides: weight.strides, packed: undefined })
  return 0
}

/** Like `packedWeight`, for whoever knows that the weight stays: packs at once. */
export function packNow(weight: Tensor, side: number, groups: number, outer: number, k: number): Storage {
  const { storage } = weight
  const key = `gemm:${weight.type}:${side}:${groups}:${outer}:${k}:${weight.offset}`
  return derivedIn(storage, key, () => {
    const packed = Storage.allocate(kernels.gemm_pack_size({ dtype: weight.type, side, groups, outer, k }))
    kernels.gemm_pack({
      dtype: weight.type,
      side,
      groups,
      outer,
      k,
      src: weight.address,
      outer_stride: k,
      k_stride: 1,
      group_stride: outer * k,
      dst: packed.address,
    })
    return packed
  })
}
