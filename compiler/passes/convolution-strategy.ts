import { BLOCK, blocksOf } from '../../runtime/backends/cpu/support/blocked.js'

/** A 2-d convolution of known sizes. */
export interface ConvolutionProblem {
  readonly batch: number
  readonly inChannels: number
  readonly outChannels: number
  readonly groups: number
  readonly in: readonly [number, number]
  readonly out: readonly [number, number]
  readonly kernel: readonly [number, number]
  readonly stride: readonly [number, number]
  readonly padding: readonly [number, number]
  readonly dilation: readonly [number, number]
}

/**
 * - `few channels`: direct, from [n, c, h, w] to blocks of channels;
 * - `pointwise`: direct, 1x1 with stride 1, over pixels whatever their row;
 * - `direct`: direct, rows padded in strips;
 * - `depthwise`: a vector of channels at a time;
 * - `product`: implicit GEMM over [n, c, h, w].
 */
export type ConvolutionKind = 'few channels' | 'pointwise' | 'direct' | 'depthwise' | 'product'

export interface ConvolutionStrategy {
  readonly kind: ConvolutionKind
  /** In words, for people. */
  readonly reason: string
  /** What blocks of channels save over `product`, in nanoseconds. */
  readonly gain: number
}

// Measured on one core of a 2.5 GHz Cascade Lake with AVX-512; what matters is how they compare.
const NS_PER_MAC_SAVED = 0.0046
const NS_PER_PACKED_ELEMENT = 0.1
/** Nanoseconds per element that is brought from one layout to another. */
export const NS_PER_REORDERED_ELEMENT = 0.32
/** Input channels up to which a convolution reads them as they are. */
const FEW_CHANNELS = 4

/** How a float32 convolution is computed best. */
export function convolutionStrategy(p: ConvolutionProblem): ConvolutionStrategy {
  const outPixels = p.batch * p.out[0] * p.out[1]
  const product = (reason: string): ConvolutionStrategy => ({ kind: 'product', reason, gain: 0 })
  if (p.groups > 1) {
    if (p.groups !== p.inChannels || p.outChannels !== p.inChannels) return product(`${p.groups} groups of several channels`)
    if (p.inChannels < BLOCK / 2) return product(`${p.inChannels} channels would leave most of a block of ${BLOCK} unused`)
    // the shorter the rows, the more of the other kernel's time goes into their ends
    const gain = outPixels * p.outChannels * (0.2 + 15 / p.out[1])
    return { kind: 'depthwise', reason: `one filter per channel, a vector of channels at a time`, gain }
  }
  const padded = (blocksOf(p.outChannels) * BLOCK) / p.outChannels
  if (padded >= 2) return product(`${p.outChannels} output channels would leave half of the last block of ${BLOCK} unused`)
  if (outPixels === p.batch) return product('a single pixel: each weight is read once')
  const taps = p.kernel[0] * p.kernel[1]
  const macs = outPixels * p.outChannels * p.inChannels * taps
  const packed = outPixels * p.inChannels * taps
  const gain = macs * (NS_PER_MAC_SAVED - 0.02 * (padded - 1)) + packed * NS_PER_PACKED_ELEMENT
  if (p.inChannels <= FEW_CHANNELS) {
    return { kind: 'few channels', reason: `${p.inChannels} input channels, read as they are`, gain }
  }
  if (taps === 1 && p.stride[0] === 1 && p.stride[1] === 1 && p.padding[0] === 0 && p.padding[1] === 0) {
    return { kind: 'pointwise', reason: `${p.inChannels} to ${p.outChannels} channels at ${outPixels} pixels`, gain }
  }
  return { kind: 'direct', reason: `${p.kernel.join('x')} over ${p.inChannels} channels, stride ${p.stride.join('x')}`, gain }
}
