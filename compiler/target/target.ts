import type { Caches } from '../../runtime/native/caches.js'
import type { DType } from '../../runtime/tensor/dtype.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Costs } from './costs.js'

/** What kernels can do at all. */
export interface Capabilities {
  /** Convolutions and pools over channels in blocks. */
  readonly blocks: boolean
  /** 3x3 convolutions over blocks by Winograd's F(4x4, 3x3). */
  readonly winograd: boolean
  /** Products that leave blocks of zeros out, and may be faster than dense ones. */
  readonly sparse: boolean
  /** Products of bfloat16 by tiles, in a small part of the time of those of float32. */
  readonly tiles: boolean
}

/** What a filter in blocks is read by. */
export type FilterForm = 'direct' | 'winograd' | 'grouped'

/** What computes a product: a linear layer, or a pointwise convolution of images or of images with channels in blocks. */
export type SparseLayer = 'linear' | 'convolution' | 'blocked convolution'

/** A product of x [m, k] (m pixels of an image for convolutions) and a weight [n, k], of whose blocks of `width` outputs some are not zero. */
export interface SparseProduct {
  readonly layer: SparseLayer
  /** Of the weight: float32, or bfloat16 for linear layers. */
  readonly dtype: DType
  readonly m: number
  readonly n: number
  readonly k: number
  readonly nonZeroBlocks: number
  readonly width: number
}

/** How a product is computed: `dense`, or with blocks of zeros left out. */
export type SparseStrategy = 'dense' | 'rows' | 'unrolled' | 'vectors' | 'channels'

export interface Estimate {
  readonly strategy: SparseStrategy
  readonly milliseconds: number
}

/** The blocks of a weight. */
export interface BlockCount {
  readonly blocks: number
  readonly zeros: number
  /** Output channels of a block. */
  readonly width: number
}

/**
 * What passes know of the machine and the kernels that a plan is for. `hostTarget()` is what is loaded; lowering for another one gives the
 * graph that would run there.
 */
export interface Target {
  /** Channels of a block of images: [n, c / blockWidth, h, w, blockWidth]. */
  readonly blockWidth: number
  readonly caches: Caches
  readonly costs: Costs
  readonly capabilities: Capabilities
  /** A filter [outputs, inputs / groups, ...] in blocks of outputs, [outputs / blockWidth, ..., inputs, blockWidth] where it is `direct`. */
  readonly packFilter: (filter: Tensor, form: FilterForm, groups: number) => Tensor
  /** An image [n, c, h, w] in blocks of channels. */
  readonly packImage: (image: Tensor) => Tensor
  /** The blocks of a weight [n, k, ...] or of a filter in blocks. Asked where products may be sparse. */
  readonly countBlocks: (weight: Tensor) => BlockCount
  /** The ways to compute a product with the time that each is expected to take, best first. */
  readonly estimate: (product: SparseProduct) => readonly Estimate[]
}
