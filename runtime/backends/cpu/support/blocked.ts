/** Channels of a block, at every level of the kernels. */
export const BLOCK = 16

/** Outputs in each direction that Winograd's F(4x4, 3x3) computes together, and products that it takes for them per channel. */
export const WINOGRAD_TILE = 4
export const WINOGRAD_POSITIONS = 36

/** Blocks that hold `channels` channels. */
export const blocksOf = (channels: number): number => Math.ceil(channels / BLOCK)
