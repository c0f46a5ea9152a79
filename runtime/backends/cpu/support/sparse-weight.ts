import * as kernels from '../../../native/generated/kernels.js'
import type { Storage } from '../../../tensor/storage.js'
import type { Tensor } from '../../../tensor/tensor.js'

/** How a block-sparse product is computed; docs/jit.md says what each is for. */
export type SparseForm = keyof typeof kernels.SparseForm

/** What a block-sparse kernel is made for: about `rows` rows of x, sums that start from a bias, results clamped to [min, max]. */
export interface SparseUse {
  readonly form: SparseForm
  readonly rows: number
  readonly hasBias: boolean
  readonly min: number
  readonly max: number
}

export interface SparseKernel {
  readonly handle: number
  /** Of generated code, shared with all kernels of the same description; 0 where none was generated. */
  readonly codeBytes: number
}

interface Kept extends SparseKernel {
  readonly key: string
  readonly version: number
}

/** Kernels by the storage of the weight they were made of. */
const made = new WeakMap<Storage, Kept[]>()
const abandoned = new FinalizationRegistry<number>((handle) => kernels.sparse_release({ handle }))

/**
 * A kernel of x weight^T, kept with the weight's storage; it holds a copy of its non-zero blocks. Weight: contiguous float32
 * [n, k, ...] whose further dimensions are 1. Null where memory is short.
 */
export function sparseKernel(weight: Tensor, use: SparseUse): SparseKernel | null {
  const { storage } = weight
  const [n, k] = weight.shape as [number, number]
  const { form, rows, hasBias, min, max } = use
  const key = [weight.offset, n, k, form, rows, hasBias, min, max].join()
  const kept = made.get(storage) ?? []
  const found = kept.find((kernel) => kernel.key === key && kernel.version === storage.version)
  if (found !== undefined) return found
  const clamped = min !== -Infinity || max !== Infinity
  const { handle, code_bytes: codeBytes } = kernels.sparse_gemm_create({
    weight: weight.address,
    n,
    k,
    n_stride: k,
    k_stride: 1,
    m: rows,
    form: kernels.SparseForm[form],
    has_bias: Number(hasBias),
    post_ops: Number(clamped),
    ops: clamped ? [kernels.JitAlgorithm.clamp] : [],
    access: clamped ? [kernels.JitAccess.full] : [],
    p0: clamped ? [min] : [],
    p1: clamped ? [max] : [],
    p2: clamped ? [1] : [],
  })
  if (handle === 0) return null
  const kernel = { key, version: storage.version, handle, codeBytes }
  made.set(storage, [...kept, kernel])
  abandoned.register(storage, handle)
  return kernel
}

export interface BlockCount {
  readonly blocks: number
  readonly zeros: number
  /** Output channels of a block. */
  readonly width: number
}

/** The blocks of a weight by the width of the kernels in use; null where no code can be generated. */
export function countBlocks(weight: Tensor): BlockCount | null {
  if (kernels.jit_info().state !== kernels.JitState.ready) return null
  const [n, k] = weight.shape as [number, number]
  const count = kernels.sparse_share({ weight: weight.address, n, k, n_stride: k, k_stride: 1, width: 0 })
  return { blocks: count.blocks, zeros: count.zero_blocks, width: count.width_used }
}
