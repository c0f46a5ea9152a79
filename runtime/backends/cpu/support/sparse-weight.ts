import * as kernels from '../../../native/generated/kernels.js'
import type { Storage } from '../../../tensor/storage.js'
import type { Tensor } from '../../../tensor/tensor.js'

interface SparseKernel {
  readonly key: string
  readonly version: number
  readonly handle: number
}

/** Kernels by the storage of the weight they were made of. */
const made = new WeakMap<Storage, SparseKernel[]>()
const abandoned = new FinalizationRegistry<number>((handle) => kernels.sparse_release({ handle }))

/**
 * A block-sparse kernel of x weight^T (+ bias), clamped to [min, max], for about `rows` rows of x. Weight: contiguous float32 [n, k].
 * Kernels are kept with the weight's storage; they hold a copy of its non-zero blocks. 0 where memory is short.
 */
export function sparseKernel(weight: Tensor, rows: number, hasBias: boolean, min: number, max: number): number {
  const { storage } = weight
  const [n, k] = weight.shape as [number, number]
  const key = [weight.offset, n, k, Math.min(rows, 16), hasBias, min, max].join()
  const kept = made.get(storage) ?? []
  const found = kept.find((kernel) => kernel.key === key && kernel.version === storage.version)
  if (found !== undefined) return found.handle
  const clamped = min !== -Infinity || max !== Infinity
  const { handle } = kernels.sparse_gemm_create({
    weight: weight.address,
    n,
    k,
    n_stride: k,
    k_stride: 1,
    rows,
    has_bias: Number(hasBias),
    post_ops: Number(clamped),
    ops: clamped ? [kernels.JitAlgorithm.clamp] : [],
    access: clamped ? [kernels.JitAccess.full] : [],
    p0: clamped ? [min] : [],
    p1: clamped ? [max] : [],
    p2: clamped ? [1] : [],
  })
  if (handle === 0) return 0
  made.set(storage, [...kept, { key, version: storage.version, handle }])
  abandoned.register(storage, handle)
  return handle
}

/** Share of the weight's blocks that hold zeros only, by the width of the kernels in use; 0 where no code can be generated. */
export function zeroBlockShare(weight: Tensor): number {
  if (kernels.jit_info().state !== kernels.JitState.ready) return 0
  const [n, k] = weight.shape as [number, number]
  const { blocks, zero_blocks } = kernels.sparse_share({ weight: weight.address, n, k, n_stride: k, k_stride: 1, width: 0 })
  return blocks === 0 ? 0 : zero_blocks / blocks
}
