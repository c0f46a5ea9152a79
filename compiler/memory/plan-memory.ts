import { orders, promoteHighest } from './orders.js'
import { bestFit, type Lifetime } from './best-fit.js'

export type { Lifetime }

export interface MemoryPlan {
  /** Byte offset in the arena of each buffer. */
  readonly offsets: readonly number[]
  readonly arenaBytes: number
  /** The most that is alive at one step: no arena can be smaller. */
  readonly lowerBound: number
  /** What the buffers need without sharing. */
  readonly naiveBytes: number
  /** Name of the order that gave the smallest arena. */
  readonly order: string
}

export const ALIGNMENT = 64

/** Buffers, times attempts at improving an order, that a plan may cost. */
const IMPROVEMENT_BUDGET = 10_000

/** Bytes that a buffer takes up in an arena. */
export function alignedSize(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/**
 * Offsets for buffers so that no two which are alive at the same step overlap. Buffers are placed one after the other, each
 * into the smallest gap that holds it, in several orders; the smallest arena wins (the offset calculation of Pisarchyk and
 * Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). Where none reaches the lower bound, the best
 * order is improved by placing what lies highest earlier.
 */
export function planMemory(buffers: readonly Lifetime[]): MemoryPlan {
  const lifetimes = buffers.map((b) => ({ ...b, bytes: alignedSize(b.bytes) }))
  const lowerBound = largestLiveSet(lifetimes)
  const naiveBytes = lifetimes.reduce((sum, b) => sum + b.bytes, 0)
  let best: MemoryPlan = { offsets: [], arenaBytes: Infinity, lowerBound, naiveBytes, order: '' }
  let bestSequence: readonly number[] = []
  const attempt = (order: string, sequence: readonly number[]): readonly number[] => {
    const { offsets, arenaBytes } = bestFit(lifetimes, sequence)
    if (arenaBytes < best.arenaBytes) {
      best = { offsets, arenaBytes, lowerBound, naiveBytes, order }
      bestSequence = sequence
    }
    return offsets
  }
  for (const [order, sequence] of orders(lifetimes)) {
    attempt(order, sequence)
    if (best.arenaBytes === lowerBound) return best
  }
  let sequence = bestSequence
  let { offsets } = best
  for (let left = IMPROVEMENT_BUDGET; left > 0 && best.arenaBytes > lowerBound; left -= lifetimes.length) {
    sequence = promoteHighest(lifetimes, offsets, sequence)
    offsets = attempt(`${best.order.replace(', improved', '')}, improved`, sequence)
  }
  return best
}

/** Largest sum of sizes over buffers that are alive at one step. */
export function largestLiveSet(buffers: readonly Lifetime[]): number {
  const changes = new Map<number, number>()
  const add = (step: number, bytes: number): void => void changes.set(step, (changes.get(step) ?? 0) + bytes)
  for (const { bytes, first, last } of buffers) {
    add(first, bytes)
    add(last + 1, -bytes)
  }
  let live = 0
  let most = 0
  for (const step of [...changes.keys()].sort((a, b) => a - b)) {
    live += changes.get(step)!
    most = Math.max(most, live)
  }
  return most
}
