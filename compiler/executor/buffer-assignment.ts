import type { CapturedRun } from '../capture/captured.js'
import { groupBuffers } from '../memory/lifetimes.js'
import { planMemory } from '../memory/plan-memory.js'

/** Where the buffers of a run lie. */
export interface BufferAssignment {
  /** Of each buffer its byte in the arena, or -1 - i for output i; null for buffers that nothing touches. */
  readonly places: readonly (number | null)[]
  /** Bytes of each output. */
  readonly outputs: readonly number[]
  readonly arenaBytes: number
  /** The most bytes of buffers in the arena that are alive at one time. */
  readonly lowerBound: number
  /** Bytes of the buffers in the arena if each had memory of its own. */
  readonly naiveBytes: number
}

/** Plans the arena of a captured run; buffers that the result reaches become outputs. */
export function assignBuffers(run: CapturedRun): BufferAssignment {
  const { groupOf, lifetimes, isOutput } = groupBuffers(run)
  const groups = lifetimes.map((_, group) => group)
  const inArena = groups.filter((group) => !isOutput[group])
  const outputs = groups.filter((group) => isOutput[group])
  const { offsets, arenaBytes, lowerBound, naiveBytes } = planMemory(inArena.map((group) => lifetimes[group]!))
  const places = new Map([
    ...inArena.map((group, i): [number, number] => [group, offsets[i]!]),
    ...outputs.map((group, i): [number, number] => [group, -1 - i]),
  ])
  return {
    places: groupOf.map((group) => places.get(group) ?? null),
    outputs: outputs.map((group) => lifetimes[group]!.bytes),
    ...{ arenaBytes, lowerBound, naiveBytes },
  }
}
