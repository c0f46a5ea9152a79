import { channelsLastStrides, isContiguous } from '../tensor/shape.js'

/** Channels of a block, at every level of the kernels. */
export const BLOCK = 16

/** Outputs in each direction that Winograd's F(4x4, 3x3) computes together, and products that it takes for them per channel. */
export const WINOGRAD_TILE = 4
export const WINOGRAD_POSITIONS = 36

/** Blocks that hold `channels` channels. */
export const blocksOf = (channels: number, width = BLOCK): number => Math.ceil(channels / width)

/** True for [n, c, h, w] whose channels come last in memory, without gaps, and not for what is [n, c, h, w] there, too. */
export function isRows(shape: readonly number[], strides: readonly number[]): boolean {
  if (shape.length !== 4 || isContiguous(shape, strides)) return false
  const wanted = channelsLastStrides(shape)
  return shape.every((size, d) => size === 1 || strides[d] === wanted[d])
}

/** Groups of channels of a convolution: how many, and how many channels the input and the output of each has. */
export interface Groups {
  readonly count: number
  readonly inputs: number
  readonly outputs: number
}

/** How the filter of a grouped convolution over blocks of channels is laid out. */
export interface GroupedFilter {
  /** True where a lane reads the channels of its own group only, which lie in the block of the lane. */
  readonly within: boolean
  /** Channels that a tap of an output block has. */
  readonly depth: number
  /** Channels of the input that all output blocks read, one after the other. */
  readonly work: number
}

/**
 * An output block reads from the block that its first group begins in to the end of its last group; groups of 4 or 8 channels
 * that give as many are read lane by lane.
 */
export function groupedFilter({ count, inputs, outputs }: Groups, width = BLOCK): GroupedFilter {
  const blocks = blocksOf(count * outputs, width)
  if (inputs === outputs && inputs < width && (inputs === 4 || inputs === 8)) return { within: true, depth: inputs, work: blocks * inputs }
  let [depth, work] = [0, 0]
  for (let block = 0; block < blocks; block++) {
    const { first, end } = groupSpan({ count, inputs, outputs }, block, width)
    depth = Math.max(depth, end - Math.floor(first / width) * width)
    work += end - first
  }
  return { within: false, depth, work }
}

/** The channels of the input that an output block reads. */
export function groupSpan(
  { count, inputs, outputs }: Groups,
  block: number,
  width = BLOCK,
): { readonly first: number; readonly end: number } {
  const last = Math.min((block + 1) * width, count * outputs) - 1
  return { first: Math.floor((block * width) / outputs) * inputs, end: (Math.floor(last / outputs) + 1) * inputs }
}
