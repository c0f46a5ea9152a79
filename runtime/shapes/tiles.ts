import type { Caches } from '../native/caches.js'
import { numelOf } from '../tensor/shape.js'
import { BLOCK, blocksOf, WINOGRAD_POSITIONS, WINOGRAD_TILE } from './blocks.js'

/** What a convolution over blocks of channels computes, for one image. */
export interface StripProblem {
  /** The input is [c, d, h, w] as it is. */
  readonly plain: boolean
  readonly channels: number
  /** Channels that a tap of an output block's filter has. */
  readonly depth: number
  /** Of the output. */
  readonly blocks: number
  /** Depth, height and width, here and below. */
  readonly in: readonly number[]
  readonly out: readonly number[]
  readonly kernel: readonly number[]
  readonly stride: readonly number[]
  readonly padding: readonly number[]
}

/** How it is cut up. */
export interface Strip {
  /** Rows of the output that are computed at a time at most; pixels for a pointwise convolution. */
  readonly strip: number
  /** Threads share out the filters; else the strips. */
  readonly byFilters: boolean
}

const FLOAT = 4

/**
 * A strip of the input and what comes of it take a third of the second-level cache, beside the filters that pass by. Where the
 * filters are larger than the input, they are read once, by one thread each.
 */
export function stripOf(p: StripProblem, { l2 }: Caches): Strip {
  const inputChannels = p.plain ? p.channels : blocksOf(p.channels) * BLOCK
  const taps = numelOf(p.kernel)
  const pixels = numelOf(p.out)
  const [, rows, width] = p.out as [number, number, number]
  const pointwise = taps === 1 && p.stride.every((s) => s === 1) && p.padding.every((v) => v === 0)
  // a single row is one strip
  const oneStrip = pixels === width && !pointwise
  const byFilters = oneStrip || p.blocks * BLOCK * p.depth * taps > inputChannels * numelOf(p.in)
  const perPixel = FLOAT * (inputChannels * p.kernel[0]! * p.stride[1]! * p.stride[2]! + p.blocks * BLOCK)
  const fitting = Math.max(1, Math.floor(l2 / 3 / perPixel))
  const strip = pointwise ? Math.min(pixels, fitting) : Math.min(rows, Math.max(1, Math.floor(fitting / width)))
  return { strip, byFilters }
}

/** Rows of tiles and slices of the output that a Winograd convolution transforms at a time. */
export interface WinogradStrip {
  readonly strip: number
  readonly slices: number
}

/** A 3x3 convolution over blocks of channels. */
export interface WinogradProblem {
  readonly inBlocks: number
  readonly outBlocks: number
  /** Of the input. */
  readonly channels: number
  /** Slices of the filter. */
  readonly taps: number
  /** Depth, height and width of the output. */
  readonly out: readonly number[]
}

/**
 * Both transformed sides take half of the second-level cache; where the filter, with `taps` slices, is too large for it, more of it, so
 * that the filter passes by less often; a filter that comes from memory is worth a quarter of the third-level cache.
 */
export function winogradStrip(
  { inBlocks, outBlocks, channels, taps, out }: WinogradProblem,
  { l2, l3 }: Caches,
  width = BLOCK,
): WinogradStrip {
  const depth = out[0]!
  const [rows, columns] = out.slice(1).map((size) => Math.ceil(size / WINOGRAD_TILE)) as [number, number]
  const filter = FLOAT * WINOGRAD_POSITIONS * outBlocks * width * channels * taps
  const room = filter > l3 / 2 ? Math.max(2 * l2, l3 / 4) : filter > 2 * l2 ? 2 * l2 : l2 / 2
  // blocks of channels of a row of tiles
  const fitting = room / (FLOAT * columns * WINOGRAD_POSITIONS * width)
  const slices = evenParts(depth, Math.floor((fitting - (taps - 1) * inBlocks) / (inBlocks + outBlocks)))
  const perRow = Math.min(depth + taps - 1, slices + taps - 1) * inBlocks + slices * outBlocks
  return { slices, strip: evenParts(rows, Math.floor(fitting / perRow)) }
}

/** The size of equal parts of `all`, of `most` at most but 1 at least. */
function evenParts(all: number, most: number): number {
  const part = Math.min(all, Math.max(1, most))
  return Math.ceil(all / Math.ceil(all / part))
}

/** A depthwise convolution between pointwise ones. */
export interface BottleneckProblem {
  /** Of the depthwise convolution, in blocks. */
  readonly blocks: number
  readonly expands: boolean
  readonly in: readonly [number, number]
  readonly out: readonly [number, number]
  readonly kernel: number
  readonly stride: number
}

/** Rows of the output that are computed at a time: what lies between the layers then takes half of the second-level cache. */
export function bottleneckRows({ blocks, expands, in: input, out, kernel, stride }: BottleneckProblem, { l2 }: Caches): number {
  const lane = FLOAT * BLOCK * blocks
  const expanded = expands ? lane * input[1] : 0
  const room = l2 / 2 - Math.max(kernel - stride, 0) * expanded
  return Math.min(out[0], Math.max(1, Math.floor(room / (stride * expanded + lane * out[1]))))
}

/** Columns of the output from which on rows are cut into tiles that touch the padding at one end at most. */
const LEAST_COLUMNS = 14
const MAX_COLUMNS = 1024

/** Whether kernel `blocked_bottleneck` has such a depthwise convolution: square, of a usual size, with rows that are not short. */
export function fitsBottleneck(kernel: number, stride: number, padding: number, columns: number): boolean {
  const usual = kernel === 7 ? stride === 1 : (kernel === 3 || kernel === 5) && (stride === 1 || stride === 2)
  return usual && (padding === 0 || padding === (kernel - 1) / 2) && columns >= LEAST_COLUMNS && columns <= MAX_COLUMNS
}
