/** Channels of a block, at every level of the kernels. */
export const BLOCK = 16

/** Blocks that hold `channels` channels. */
export const blocksOf = (channels: number): number => Math.ceil(channels / BLOCK)
