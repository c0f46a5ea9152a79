import type { Program } from '../../program/program.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type { Tensor } from '../index.js'
import { listParameters, type Parameter } from '../inspect/parameters.js'

/** Output channels of a block: what one multiply-add of the block-sparse kernels takes with AVX-512. */
export const BLOCK_WIDTH = 16

/** Modules whose matrices are looked up or scaled by, not multiplied with. */
const NO_PRODUCT = /Embedding|Norm/

/**
 * The weights that a block-sparse product could serve: matrices [out, in] of linear layers and kernels [out, in, 1, 1] of pointwise
 * convolutions, float32 or bfloat16, at least a block wide.
 */
export function blockWeights(file: Pick<Program, 'root' | 'functions'>): Parameter[] {
  return listParameters(file).filter(
    ({ name, tensor, owners }) =>
      isBlockWeight(tensor) && !owners.some((owner) => NO_PRODUCT.test(owner)) && /weight|packed|constant/.test(name),
  )
}

function isBlockWeight(t: Tensor): boolean {
  const pointwise = t.dim === 4 && t.shape[2] === 1 && t.shape[3] === 1
  return (
    (t.type === DType.float32 || t.type === DType.bfloat16) && (t.dim === 2 || pointwise) && t.shape[0]! >= BLOCK_WIDTH && t.shape[1]! > 1
  )
}

/** A weight as the kernels take it: address, sizes and strides in elements. */
export function weightFields(t: Tensor): { weight: number; dtype: DType; n: number; k: number; n_stride: number; k_stride: number } {
  return { weight: t.address, dtype: t.type, n: t.shape[0]!, k: t.shape[1]!, n_stride: t.strides[0]!, k_stride: t.strides[1]! }
}

/** Blocks of 1 input channel by `width` output channels, and how many hold zeros only. */
export function countBlocks(t: Tensor, width = BLOCK_WIDTH): { blocks: number; zeros: number } {
  const { blocks, zero_blocks } = kernels.sparse_share({ ...weightFields(t), n_group: 16 * t.strides[0]!, width })
  return { blocks, zeros: zero_blocks }
}
