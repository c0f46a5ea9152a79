import type { CapturedFrame, CapturedRun, Target } from '../capture/captured.js'
import { HOST_OFFSET, KERNEL_OFFSET } from '../capture/frame-layout.js'
import { alignedSize } from '../memory/plan-memory.js'
import type { BufferAssignment } from './buffer-assignment.js'

/** An address that a run fills in: at byte `at` of the frames, that of `slot` plus `offset` bytes. */
export interface Patch {
  readonly at: number
  readonly slot: number
  readonly offset: number
}

/** An address that an instance of the plan fills in once. */
export interface Fixed {
  readonly at: number
  /** Number of a constant, or of the plan's host data or arena. */
  readonly base: number
  readonly offset: number
}

export const ARENA = -1
export const HOST_DATA = -2

/** The frames of a run behind each other, with every address described. */
export interface ReplayProgram {
  readonly frames: Uint8Array
  /** Byte of each frame. */
  readonly offsets: Uint32Array
  readonly patches: readonly Patch[]
  readonly fixed: readonly Fixed[]
  /** JavaScript memory that frames read, copied. */
  readonly hostData: Uint8Array
  readonly arenaBytes: number
  /** Bytes of each output; output i has slot inputs + i. */
  readonly outputs: readonly number[]
  /** Output that each buffer became; -1 for those in the arena. */
  readonly outputOf: readonly number[]
}

/** Lays out frames and host data of a captured run whose buffers have their places. */
export function buildProgram(run: CapturedRun, placement: BufferAssignment): ReplayProgram {
  const { places, outputs } = placement
  const inputs = run.aliases.length

  const offsets = new Uint32Array(run.frames.length)
  let size = 0
  run.frames.forEach((frame, i) => {
    offsets[i] = size
    size += frame.layout.size
  })
  const frames = new Uint8Array(size)
  const patches: Patch[] = []
  const fixed: Fixed[] = []
  const host = new HostData()
  const place = (at: number, target: Target, offset: number): void => {
    if (target.kind === 'input') patches.push({ at, slot: target.index, offset })
    else if (target.kind === 'constant') fixed.push({ at, base: target.index, offset })
    else {
      const byte = places[target.index]!
      if (byte < 0) patches.push({ at, slot: inputs - 1 - byte, offset })
      else fixed.push({ at, base: ARENA, offset: byte + offset })
    }
  }
  run.frames.forEach((frame, i) => {
    const start = offsets[i]!
    frames.set(frame.bytes, start)
    new DataView(frames.buffer).setInt32(start + KERNEL_OFFSET, frame.layout.kernel, true)
    for (const { at, target, offset } of frame.pointers) place(start + at, target, offset)
    if (frame.host !== null) fixed.push({ at: start + HOST_OFFSET, base: HOST_DATA, offset: host.add(frame) })
  })
  return {
    frames,
    offsets,
    patches,
    fixed,
    hostData: host.bytes(),
    arenaBytes: placement.arenaBytes,
    outputs,
    outputOf: places.map((byte) => (byte !== null && byte < 0 ? -1 - byte : -1)),
  }
}

class HostData {
  private readonly parts: Uint8Array[] = []
  private size = 0

  add({ host }: CapturedFrame): number {
    const offset = this.size
    this.parts.push(host!)
    this.size += alignedSize(host!.length)
    return offset
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.size)
    let at = 0
    for (const part of this.parts) {
      all.set(part, at)
      at += alignedSize(part.length)
    }
    return all
  }
}
