import { blocksOf, groupedFilter, WINOGRAD_POSITIONS, WINOGRAD_TILE } from '../../../runtime/shapes/blocks.js'
import { winogradStrip } from '../../../runtime/shapes/tiles.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
import type { Target } from '../../target/target.js'
import { DEFAULT_OPTIONS, type PassOptions } from '../pass.js'

/** A convolution of images or volumes of known sizes: lists have height and width, and for volumes the depth in front of them. */
export interface ConvolutionProblem {
  readonly batch: number
  readonly inChannels: number
  readonly outChannels: number
  readonly groups: number
  readonly in: readonly number[]
  readonly out: readonly number[]
  readonly kernel: readonly number[]
  readonly stride: readonly number[]
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  /** The filter has 16 bits: what it is transformed to is made at each call. */
  readonly isNarrow?: boolean
}

/**
 * - `few channels`: direct, from [n, c, h, w] to blocks of channels;
 * - `pointwise`: direct, one tap with stride 1, over pixels whatever their row;
 * - `winograd`: 3x3 in each slice, stride 1, by F(4x4, 3x3);
 * - `direct`: direct, rows padded in strips;
 * - `grouped`: direct, each output block from the channels of its groups;
 * - `depthwise`: a vector of channels at a time;
 * - `product`: implicit GEMM over [n, c, h, w].
 */
export type ConvolutionKind = 'few channels' | 'pointwise' | 'winograd' | 'direct' | 'grouped' | 'depthwise' | 'product'

export interface ConvolutionStrategy {
  readonly kind: ConvolutionKind
  /** In words, for people. */
  readonly reason: string
  /** What blocks of channels save over `product`, in nanoseconds. */
  readonly gain: number
}

/** Input channels up to which a convolution reads them as they are. */
const FEW_CHANNELS = 4

/** Depth of a list of a problem; `none` for images. */
const depthOf = (list: readonly number[], none: number): number => (list.length === 3 ? list[0]! : none)

/** Slices of the filter that meet slices of the input, summed up over those of the output: kernels leave the others out. */
function sliceTaps(p: ConvolutionProblem): number {
  const [size, kernel, stride] = [p.in, p.kernel, p.stride].map((list) => depthOf(list, 1)) as [number, number, number]
  const [padding, dilation] = [depthOf(p.padding, 0), depthOf(p.dilation, 1)]
  let count = 0
  for (let z = 0; z < depthOf(p.out, 1); z++) {
    for (let k = 0; k < kernel; k++) {
      const at = z * stride - padding + k * dilation
      if (at >= 0 && at < size) count++
    }
  }
  return count
}

/** Bytes of transformed filters, four times as many as they are made from, that come from memory: they are read for each strip of tiles. */
function filterBytesRead(p: ConvolutionProblem, inputs: number, outputs: number, { caches, blockWidth }: Target): number {
  const [taps, depth] = [depthOf(p.kernel, 1), depthOf(p.out, 1)]
  const bytes = WINOGRAD_POSITIONS * inputs * outputs * taps * 4
  if (bytes <= caches.l3 / 2) return 0
  const out = [depth, ...p.out.slice(-2)]
  const [inBlocks, outBlocks] = [p.inChannels, p.outChannels].map((channels) => blocksOf(channels, blockWidth)) as [number, number]
  const { strip, slices } = winogradStrip({ inBlocks, outBlocks, channels: p.inChannels, taps, out }, caches, blockWidth)
  return bytes * p.batch * Math.ceil(Math.ceil(out[1]! / WINOGRAD_TILE) / strip) * Math.ceil(depth / slices)
}

/** What Winograd's algorithm saves over a direct convolution, in nanoseconds; 0 where it saves nothing or does not apply. */
function winogradGain(p: ConvolutionProblem, macs: number, target: Target): number {
  const { blockWidth, costs } = target
  const isThree = p.kernel.slice(-2).every((k) => k === 3) && [...p.stride, ...p.dilation].every((by) => by === 1)
  if (!isThree || p.inChannels < blockWidth || p.outChannels < blockWidth) return 0
  const [inputs, outputs] = [p.inChannels, blocksOf(p.outChannels, blockWidth) * blockWidth]
  const [height, width] = p.out.slice(-2) as [number, number]
  const positions = p.batch * Math.ceil(height / WINOGRAD_TILE) * Math.ceil(width / WINOGRAD_TILE) * WINOGRAD_POSITIONS
  const [slices, products] = [positions * depthOf(p.out, 1), positions * sliceTaps(p)]
  const filters = p.isNarrow === true ? WINOGRAD_POSITIONS * depthOf(p.kernel, 1) * inputs * outputs : 0
  const time =
    products * inputs * outputs * costs.winogradMac +
    (slices * (inputs + outputs) + filters) * costs.transformedElement +
    4 * filters * costs.byteRead +
    filterBytesRead(p, inputs, outputs, target) * costs.byteRead
  // within the error of the estimate the direct one, which rounds less, is taken
  return time < 0.8 * macs * costs.directMac ? macs * costs.directMac - time : 0
}

/** Blocks of channels that may have several groups, or a part of one, and then compute products with zeros. */
function groupedStrategy(p: ConvolutionProblem, { blockWidth, costs }: Target): ConvolutionStrategy {
  const groups = { count: p.groups, inputs: p.inChannels / p.groups, outputs: p.outChannels / p.groups }
  const { within, work } = groupedFilter(groups, blockWidth)
  const taps = numelOf(p.kernel) * p.batch * numelOf(p.out)
  const time = taps * work * blockWidth * (within ? costs.laneMac : costs.spanMac)
  const gain = taps * groups.inputs * p.outChannels * costs.groupedMac - time
  const shape = `${groups.count} groups of ${groups.inputs} to ${groups.outputs} channels`
  return gain > 0
    ? { kind: 'grouped', reason: shape, gain }
    : { kind: 'product', reason: `${shape} would leave most of a block of ${blockWidth} unused`, gain: 0 }
}

/** How a float32 convolution is computed best. */
export function convolutionStrategy(
  p: ConvolutionProblem,
  target: Target,
  { winograd }: PassOptions = DEFAULT_OPTIONS,
): ConvolutionStrategy {
  const { blockWidth, costs, capabilities } = target
  const outPixels = p.batch * numelOf(p.out)
  const product = (reason: string): ConvolutionStrategy => ({ kind: 'product', reason, gain: 0 })
  if (p.groups > 1) {
    if (p.groups !== p.inChannels || p.outChannels !== p.inChannels) return groupedStrategy(p, target)
    if (p.kernel.length > 2) return product('one filter per channel of volumes')
    if (p.inChannels < blockWidth / 2) return product(`${p.inChannels} channels would leave most of a block of ${blockWidth} unused`)
    // the shorter the rows, the more of the other kernel's time goes into their ends
    const gain = outPixels * p.outChannels * (costs.depthwiseElement + costs.depthwiseRow / p.out[1]!) * (numelOf(p.kernel) / 9)
    return { kind: 'depthwise', reason: `one filter per channel, a vector of channels at a time`, gain }
  }
  const padded = (blocksOf(p.outChannels, blockWidth) * blockWidth) / p.outChannels
  if (padded >= 2) return product(`${p.outChannels} output channels would leave half of the last block of ${blockWidth} unused`)
  if (outPixels === p.batch) return product('a single pixel: each weight is read once')
  const [height, width] = p.out.slice(-2) as [number, number]
  const taps = numelOf(p.kernel)
  const packed = outPixels * p.inChannels * taps
  const macs = p.batch * height * width * sliceTaps(p) * numelOf(p.kernel.slice(-2)) * p.inChannels * p.outChannels
  const gain = macs * (costs.macSaved - costs.macPadded * (padded - 1)) + packed * costs.packedElement
  if (p.inChannels <= FEW_CHANNELS) {
    return { kind: 'few channels', reason: `${p.inChannels} input channels, read as they are`, gain }
  }
  if (taps === 1 && p.stride.every((by) => by === 1) && p.padding.every((by) => by === 0)) {
    return { kind: 'pointwise', reason: `${p.inChannels} to ${p.outChannels} channels at ${outPixels} pixels`, gain }
  }
  const saved = winograd && capabilities.winograd ? winogradGain(p, macs, target) : 0
  if (saved > 0) {
    return {
      kind: 'winograd',
      reason: `${p.kernel.join('x')} over ${p.inChannels} channels, stride 1, ${p.out.join('x')} in tiles of 4x4`,
      gain: gain + saved,
    }
  }
  return { kind: 'direct', reason: `${p.kernel.join('x')} over ${p.inChannels} channels, stride ${p.stride.join('x')}`, gain }
}
