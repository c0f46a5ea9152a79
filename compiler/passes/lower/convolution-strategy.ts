import { BLOCK, blocksOf, groupedFilter, WINOGRAD_POSITIONS, WINOGRAD_TILE } from '../../../runtime/shapes/blocks.js'
import { cacheSizes, winogradStrip } from '../../../runtime/shapes/tiles.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
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

// Measured on one core of a 2.5 GHz Cascade Lake with AVX-512; what matters is how they compare.
const NS_PER_MAC_SAVED = 0.0046
const NS_PER_PACKED_ELEMENT = 0.1
/** Nanoseconds per element that is brought from one layout to another. */
export const NS_PER_REORDERED_ELEMENT = 0.32
/** Input channels up to which a convolution reads them as they are. */
const FEW_CHANNELS = 4

const NS_PER_DIRECT_MAC = 0.0155
const NS_PER_WINOGRAD_MAC = 0.018
const NS_PER_TRANSFORMED_ELEMENT = 0.2
const NS_PER_BYTE_READ = 0.06

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
function filterBytesRead(p: ConvolutionProblem, inputs: number, outputs: number): number {
  const [taps, depth] = [depthOf(p.kernel, 1), depthOf(p.out, 1)]
  const bytes = WINOGRAD_POSITIONS * inputs * outputs * taps * 4
  if (bytes <= cacheSizes().l3 / 2) return 0
  const out = [depth, ...p.out.slice(-2)]
  const { strip, slices } = winogradStrip(blocksOf(p.inChannels), blocksOf(p.outChannels), p.inChannels, taps, out)
  return bytes * p.batch * Math.ceil(Math.ceil(out[1]! / WINOGRAD_TILE) / strip) * Math.ceil(depth / slices)
}

/** What Winograd's algorithm saves over a direct convolution, in nanoseconds; 0 where it saves nothing or does not apply. */
function winogradGain(p: ConvolutionProblem, macs: number): number {
  const isThree = p.kernel.slice(-2).every((k) => k === 3) && [...p.stride, ...p.dilation].every((by) => by === 1)
  if (!isThree || p.inChannels < BLOCK || p.outChannels < BLOCK) return 0
  const [inputs, outputs] = [p.inChannels, blocksOf(p.outChannels) * BLOCK]
  const [height, width] = p.out.slice(-2) as [number, number]
  const positions = p.batch * Math.ceil(height / WINOGRAD_TILE) * Math.ceil(width / WINOGRAD_TILE) * WINOGRAD_POSITIONS
  const [slices, products] = [positions * depthOf(p.out, 1), positions * sliceTaps(p)]
  const time =
    products * inputs * outputs * NS_PER_WINOGRAD_MAC +
    slices * (inputs + outputs) * NS_PER_TRANSFORMED_ELEMENT +
    filterBytesRead(p, inputs, outputs) * NS_PER_BYTE_READ
  // within the error of the estimate the direct one, which rounds less, is taken
  return time < 0.8 * macs * NS_PER_DIRECT_MAC ? macs * NS_PER_DIRECT_MAC - time : 0
}

// The GEMM over [n, c, h, w] of a few channels in each group, and the same from blocks: dense, and where lanes read their own groups.
const NS_PER_GROUPED_MAC = 0.04
const NS_PER_SPAN_MAC = 0.021
const NS_PER_LANE_MAC = 0.028

/** Blocks of channels that may have several groups, or a part of one, and then compute products with zeros. */
function groupedStrategy(p: ConvolutionProblem): ConvolutionStrategy {
  const groups = { count: p.groups, inputs: p.inChannels / p.groups, outputs: p.outChannels / p.groups }
  const { within, work } = groupedFilter(groups)
  const taps = numelOf(p.kernel) * p.batch * numelOf(p.out)
  const time = taps * work * BLOCK * (within ? NS_PER_LANE_MAC : NS_PER_SPAN_MAC)
  const gain = taps * groups.inputs * p.outChannels * NS_PER_GROUPED_MAC - time
  const shape = `${groups.count} groups of ${groups.inputs} to ${groups.outputs} channels`
  return gain > 0
    ? { kind: 'grouped', reason: shape, gain }
    : { kind: 'product', reason: `${shape} would leave most of a block of ${BLOCK} unused`, gain: 0 }
}

/** How a float32 convolution is computed best. */
export function convolutionStrategy(p: ConvolutionProblem, { winograd }: PassOptions = DEFAULT_OPTIONS): ConvolutionStrategy {
  const outPixels = p.batch * numelOf(p.out)
  const product = (reason: string): ConvolutionStrategy => ({ kind: 'product', reason, gain: 0 })
  if (p.groups > 1) {
    if (p.groups !== p.inChannels || p.outChannels !== p.inChannels) return groupedStrategy(p)
    if (p.kernel.length > 2) return product('one filter per channel of volumes')
    if (p.inChannels < BLOCK / 2) return product(`${p.inChannels} channels would leave most of a block of ${BLOCK} unused`)
    // the shorter the rows, the more of the other kernel's time goes into their ends
    const gain = outPixels * p.outChannels * (0.2 + 15 / p.out[1]!) * (numelOf(p.kernel) / 9)
    return { kind: 'depthwise', reason: `one filter per channel, a vector of channels at a time`, gain }
  }
  const padded = (blocksOf(p.outChannels) * BLOCK) / p.outChannels
  if (padded >= 2) return product(`${p.outChannels} output channels would leave half of the last block of ${BLOCK} unused`)
  if (outPixels === p.batch) return product('a single pixel: each weight is read once')
  const [height, width] = p.out.slice(-2) as [number, number]
  const taps = numelOf(p.kernel)
  const packed = outPixels * p.inChannels * taps
  const macs = p.batch * height * width * sliceTaps(p) * numelOf(p.kernel.slice(-2)) * p.inChannels * p.outChannels
  const gain = macs * (NS_PER_MAC_SAVED - 0.02 * (padded - 1)) + packed * NS_PER_PACKED_ELEMENT
  if (p.inChannels <= FEW_CHANNELS) {
    return { kind: 'few channels', reason: `${p.inChannels} input channels, read as they are`, gain }
  }
  if (taps === 1 && p.stride.every((by) => by === 1) && p.padding.every((by) => by === 0)) {
    return { kind: 'pointwise', reason: `${p.inChannels} to ${p.outChannels} channels at ${outPixels} pixels`, gain }
  }
  const saved = winograd ? winogradGain(p, macs) : 0
  if (saved > 0) {
    return {
      kind: 'winograd',
      reason: `${p.kernel.join('x')} over ${p.inChannels} channels, stride 1, ${p.out.join('x')} in tiles of 4x4`,
      gain: gain + saved,
    }
  }
  return { kind: 'direct', reason: `${p.kernel.join('x')} over ${p.inChannels} channels, stride ${p.stride.join('x')}`, gain }
}
