import * as kernels from '../../../native/generated/kernels.js'
import { limitsOf } from './limits.js'
import type { SparseStep } from '../../../shapes/sparse-steps.js'
import type { DType } from '../../../tensor/dtype.js'
import type { Storage } from '../../../tensor/storage.js'
import type { Tensor } from '../../../tensor/tensor.js'

/** How a block-sparse product is computed; docs/jit.md says what each is for. */
export type SparseForm = keyof typeof kernels.SparseForm

/** What a block-sparse kernel is made for: about `rows` rows of x, sums that start from a bias, results clamped to [min, max]. */
export interface SparseUse {
  readonly form: SparseForm
  readonly rows: number
  readonly hasBias: boolean
  /** A tensor of the result's shape is added before the clamp. */
  readonly residual: boolean
  readonly min: number
  readonly max: number
  /** Behind all that. */
  readonly steps: readonly SparseStep[]
}

/** What a block-sparse kernel is made of besides its blocks: the frame of sparse_gemm_create and of sparse_gemm_load. */
export interface SparseDescription {
  readonly dtype: DType
  readonly n: number
  readonly k: number
  /** About how many rows x has. */
  readonly m: number
  /** A number of kernels.SparseForm. */
  readonly form: number
  readonly has_bias: number
  readonly post_ops: number
  readonly ops: readonly number[]
  readonly access: readonly number[]
  readonly p0: readonly number[]
  readonly p1: readonly number[]
  readonly p2: readonly number[]
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
/** What live kernels were made of, by handle. */
const descriptions = new Map<number, SparseDescription>()
const abandoned = /* @__PURE__ */ new FinalizationRegistry<number>((handle) => {
  descriptions.delete(handle)
  kernels.sparse_release({ handle })
})

/** Sizes and strides of a weight as the kernels take them. */
interface WeightLayout {
  readonly dtype: DType
  readonly n: number
  readonly k: number
  readonly n_stride: number
  readonly n_group: number
  readonly k_stride: number
}

/** A contiguous weight [n, k, ...] whose further dimensions are 1, or a filter [n / 16, 1, 1, k, 16] in blocks of 16 outputs. */
function layoutOf(weight: Tensor): WeightLayout {
  const { shape, type: dtype } = weight
  if (weight.dim === 5) return { dtype, n: shape[0]! * 16, k: shape[3]!, n_stride: 1, n_group: shape[3]! * 16, k_stride: 16 }
  return { dtype, n: shape[0]!, k: shape[1]!, n_stride: shape[1]!, n_group: shape[1]! * 16, k_stride: 1 }
}

/** Outputs and inputs of a weight. */
export function sizesOf(weight: Tensor): { readonly n: number; readonly k: number } {
  const { n, k } = layoutOf(weight)
  return { n, k }
}

/** All steps behind the sums: the residual, the limits, and the chain. */
export function stepsOf({ residual, min, max, steps }: Pick<SparseUse, 'residual' | 'min' | 'max' | 'steps'>): SparseStep[] {
  const { add, clamp } = kernels.JitAlgorithm
  const { full: access } = kernels.JitAccess
  const limits = limitsOf(min, max)
  return [
    ...(residual ? [{ op: add, access, numbers: [0, 0] as const, operand: -1 }] : []),
    ...(limits === null ? [] : [{ op: clamp, access, numbers: [min, max] as const, operand: null }]),
    ...steps,
  ]
}

/** A number as text, with its sign where it is zero. */
const signed = (x: number): string => (Object.is(x, -0) ? '-0' : String(x))

/**
 * A kernel of x weight^T, kept with the weight's storage; it holds a copy of its non-zero blocks. Null where memory is short.
 */
export function sparseKernel(weight: Tensor, use: SparseUse): SparseKernel | null {
  const { storage } = weight
  const { form, rows, hasBias } = use
  const steps = stepsOf(use)
  const key = [
    weight.type,
    weight.offset,
    weight.shape.join('x'),
    form,
    rows,
    hasBias,
    ...steps.flatMap((s) => [s.op, s.access, ...s.numbers.map(signed)]),
  ].join()
  const kept = made.get(storage) ?? []
  const found = kept.find((kernel) => kernel.key === key && kernel.version === storage.version)
  if (found !== undefined) return found
  const layout = layoutOf(weight)
  const { dtype, n, k } = layout
  const description: SparseDescription = {
    ...{ dtype, n, k },
    m: rows,
    form: kernels.SparseForm[form],
    has_bias: Number(hasBias),
    post_ops: steps.length,
    ops: steps.map((s) => s.op),
    access: steps.map((s) => s.access),
    p0: steps.map((s) => s.numbers[0]),
    p1: steps.map((s) => s.numbers[1]),
    p2: steps.map(() => 1),
  }
  const { handle, code_bytes: codeBytes } = kernels.sparse_gemm_create({ weight: weight.address, ...layout, ...description })
  if (handle === 0) return null
  descriptions.set(handle, description)
  const kernel = { key, version: storage.version, handle, codeBytes }
  made.set(storage, [...kept, kernel])
  abandoned.register(storage, handle)
  return kernel
}

/** What the kernel of a handle was made of; undefined where there is none. */
export function describeSparse(handle: number): SparseDescription | undefined {
  return descriptions.get(handle)
}

export interface BlockCount {
  readonly blocks: number
  readonly zeros: number
  /** Output channels of a block. */
  readonly width: number
}

/** The blocks of a weight by the width of the kernels in use. */
export function countBlocks(weight: Tensor): BlockCount {
  const count = kernels.sparse_share({ weight: weight.address, ...layoutOf(weight), width: 0 })
  return { blocks: count.blocks, zeros: count.zero_blocks, width: count.width_used }
}
