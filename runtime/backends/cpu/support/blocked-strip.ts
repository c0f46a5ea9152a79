import { cpu } from '../../../native/cpu.js'
import { BLOCK, blocksOf, WINOGRAD_POSITIONS, WINOGRAD_TILE } from './blocked.js'

/** What a convolution over blocks of channels computes, for one image. */
export interface StripProblem {
  /** The input is [c, h, w] as it is. */
  readonly plain: boolean
  readonly channels: number
  /** Channels that a tap of an output block's filter has. */
  readonly depth: number
  /** Of the output. */
  readonly blocks: number
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

/** Where the system does not tell the size of the second-level cache. */
const USUAL_L2 = 256 * 1024
const FLOAT = 4

let l2: number | undefined

/** Bytes of this CPU's second-level cache. */
function secondLevel(): number {
  l2 ??= cpu.info().caches.l2 || USUAL_L2
  return l2
}

/**
 * A strip of the input and what comes of it take a third of the second-level cache, beside the filters that pass by. Where the
 * filters are larger than the input, they are read once, by one thread each.
 */
export function stripOf(p: StripProblem): Strip {
  const inputChannels = p.plain ? p.channels : blocksOf(p.channels) * BLOCK
  const taps = p.kernel[0]! * p.kernel[1]!
  const pointwise = taps === 1 && p.stride.every((s) => s === 1) && p.padding.every((v) => v === 0)
  // a single row is one strip
  const oneStrip = p.out[0] === 1 && !pointwise
  const byFilters = oneStrip || p.blocks * BLOCK * p.depth * taps > inputChannels * p.in[0]! * p.in[1]!
  const pixels = p.out[0]! * p.out[1]!
  const perPixel = FLOAT * (inputChannels * p.stride[0]! * p.stride[1]! + p.blocks * BLOCK)
  const fitting = Math.max(1, Math.floor(secondLevel() / 3 / perPixel))
  const strip = pointwise ? Math.min(pixels, fitting) : Math.min(p.out[0]!, Math.max(1, Math.floor(fitting / p.out[1]!)))
  return { strip, byFilters }
}

/**
 * Rows of tiles that a Winograd convolution transforms at a time. Both transformed sides take half of the second-level cache; where
 * the filter is too large for it, more of it, so that the filter passes by less often.
 */
export function winogradStrip(inBlocks: number, outBlocks: number, channels: number, out: readonly [number, number]): number {
  const [rows, columns] = out.map((size) => Math.ceil(size / WINOGRAD_TILE)) as [number, number]
  const perRow = FLOAT * columns * WINOGRAD_POSITIONS * BLOCK * (inBlocks + outBlocks)
  const filter = FLOAT * WINOGRAD_POSITIONS * outBlocks * BLOCK * channels
  const room = filter > 2 * secondLevel() ? 2 * secondLevel() : secondLevel() / 2
  const strip = Math.min(rows, Math.max(1, Math.floor(room / perRow)))
  return Math.ceil(rows / Math.ceil(rows / strip))
}
