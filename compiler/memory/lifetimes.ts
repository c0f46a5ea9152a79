import type { CapturedRun } from '../capture/captured.js'
import { type Extent, shareInPlace } from './in-place.js'
import type { Lifetime } from './best-fit.js'

/** Where each buffer of a run lies: buffers of the same group share memory. */
export interface BufferGroups {
  /** Group of each buffer; -1 for buffers that no frame touches. */
  readonly groupOf: readonly number[]
  /** Frames that touch each group, first and last. */
  readonly lifetimes: readonly Lifetime[]
  /** Groups that the result reaches: they get memory of their own in each run. */
  readonly isOutput: readonly boolean[]
}

/** First and last frame that touch each buffer; -1 where none does. */
export function extentsOf(run: CapturedRun): Extent[] {
  const extents = run.buffers.map((): Extent => ({ first: -1, last: -1 }))
  run.frames.forEach((frame, i) => {
    for (const { target } of frame.pointers) {
      if (target.kind !== 'buffer') continue
      const extent = extents[target.index]!
      if (extent.first < 0) extent.first = i
      extent.last = i
    }
  })
  return extents
}

/** Groups buffers that can share memory because an elementwise kernel may overwrite its operand. */
export function groupBuffers(run: CapturedRun): BufferGroups {
  const extents = extentsOf(run)
  const representative = shareInPlace(run, extents)
  const numbers = new Map<number, number>()
  const lifetimes: { bytes: number; first: number; last: number }[] = []
  const isOutput: boolean[] = []
  const groupOf = run.buffers.map((buffer, i) => {
    const { first, last } = extents[i]!
    // a result that no kernel writes, such as an empty tensor, needs memory all the same
    if (first < 0 && !buffer.isOutput) return -1
    const root = representative(i)
    let group = numbers.get(root)
    if (group === undefined) {
      group = lifetimes.length
      numbers.set(root, group)
      lifetimes.push({ bytes: buffer.bytes, first, last })
      isOutput.push(buffer.isOutput)
      return group
    }
    const lifetime = lifetimes[group]!
    lifetime.bytes = Math.max(lifetime.bytes, buffer.bytes)
    lifetime.first = Math.min(lifetime.first, first)
    lifetime.last = Math.max(lifetime.last, last)
    isOutput[group] ||= buffer.isOutput
    return group
  })
  return { groupOf, lifetimes, isOutput }
}
