import type { CapturedRun } from '../capture/captured.js'
import { groupBuffers } from '../memory/lifetimes.js'
import { alignedSize } from '../memory/plan-memory.js'
import type { BufferAssignment } from './buffer-assignment.js'

/** A piece of the arena and when it is in use. */
export interface ArenaBuffer {
  /** What made it, and what overwrote it in place: `%3 = aten::relu`, or the kernels. */
  readonly names: readonly string[]
  /** Byte of the arena. */
  readonly offset: number
  /** How many from there on. */
  readonly bytes: number
  /** The first frame that touches it. */
  readonly first: number
  /** The last one. */
  readonly last: number
}

/** What an arena holds from frame to frame. */
export interface ArenaUse {
  /** The kernel of each frame. */
  readonly kernels: readonly string[]
  /** Intermediates, with their places. */
  readonly buffers: readonly ArenaBuffer[]
  /** The size of the arena. */
  readonly arenaBytes: number
  /** The most that is alive at one frame. */
  readonly lowerBound: number
  /** Bytes of the buffers without sharing. */
  readonly naiveBytes: number
}

/** Buffers of a run by where they lie in its arena and when; outputs, which have memory of their own, are not among them. */
export function arenaUse(run: CapturedRun, { places, arenaBytes, lowerBound, naiveBytes }: BufferAssignment): ArenaUse {
  const kernels = run.frames.map((f) => f.layout.name)
  const { groupOf, lifetimes } = groupBuffers(run)
  const buffers = lifetimes.flatMap(({ bytes, first, last }, group): ArenaBuffer[] => {
    const members = groupOf.flatMap((of, buffer) => (of === group ? [buffer] : []))
    const offset = places[members[0]!] ?? null
    if (offset === null || offset < 0 || first < 0 || bytes === 0) return []
    const names = members.map((buffer) => run.buffers[buffer]!.label ?? kernels[firstFrame(run, buffer)]!)
    return [{ names: [...new Set(names)], offset, bytes: alignedSize(bytes), first, last }]
  })
  return { kernels, buffers, arenaBytes, lowerBound, naiveBytes }
}

function firstFrame(run: CapturedRun, buffer: number): number {
  return run.frames.findIndex((f) => f.pointers.some(({ target }) => target.kind === 'buffer' && target.index === buffer))
}
