import { Limit } from '../../runtime/native/generated/numbers.js'
import { DType, itemSize } from '../../runtime/tensor/dtype.js'
import type { StoredBlocks } from '../capture/captured.js'

/** Where sparse_gemm_store puts the channels of blocks and the starts of columns behind the values, and how long all of it is; in bytes. */
export function placesOf({ blocks, width, description: { dtype, n } }: Pick<StoredBlocks, 'blocks' | 'width' | 'description'>): {
  readonly index: number
  readonly start: number
  readonly length: number
} {
  const index = aligned(blocks * width * itemSize(dtype))
  const start = aligned(index + 4 * blocks)
  return { index, start, length: start + 8 * (Math.ceil(n / width) + 1) }
}

const aligned = (bytes: number): number => Math.ceil(bytes / 64) * 64

/** Most outputs and inputs that the kernels take. */
const MAX_CHANNELS = 2 ** 24

/** Why numbers of a file describe no blocks in a constant of this size; null where they do. Their order is checked by sparse_gemm_load. */
export function faultOfBlocks(stored: StoredBlocks, constantBytes: number): string | null {
  const { blocks, width, description } = stored
  const { dtype, n, k, m, ops, access, p0, p1, post_ops: steps } = description
  const isSize = (x: number, most: number): boolean => Number.isInteger(x) && x >= 0 && x <= most
  if (dtype !== DType.float32 && dtype !== DType.bfloat16) return 'its blocks are of another dtype'
  if (width !== 8 && width !== 16) return `its blocks have a width of ${width}`
  if (!isSize(n, MAX_CHANNELS) || !isSize(k, MAX_CHANNELS) || !isSize(m, 2 ** 40) || n === 0 || k === 0) return 'it has no size'
  if (!isSize(blocks, Math.ceil(n / width) * k)) return `it has ${blocks} blocks`
  if (steps > Limit.SPARSE_POST_OPS || [ops, access, p0, p1].some((list) => list.length !== steps)) return 'its steps are incomplete'
  return placesOf(stored).length <= constantBytes ? null : 'its blocks lie outside of their memory'
}
