import * as kernels from '../../runtime/native/generated/kernels.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { ARENA, HOST_DATA, type ReplayProgram } from './program.js'

/** The fields of plan_run's frame, of which a run changes `slots`. */
export interface ReplayFrame {
  readonly count: number
  readonly patch_count: number
  readonly cancel: number
  readonly levels: number
  readonly frames: number
  readonly offsets: number
  readonly patches: number
  readonly times: number
  readonly nanoseconds: number
  readonly slots: number[]
}

const PATCH_BYTES = 24

/** Frames and arena in native memory: what one replay at a time can use. */
export class PlanInstance {
  private readonly code: Storage
  private readonly arena: Storage | null
  readonly frame: ReplayFrame

  /** `constants` has the address of each constant; `levels` are those whose kernels run the frames. */
  constructor(program: ReplayProgram, constants: readonly number[], levels: number) {
    const { frames, offsets, patches, fixed, hostData, arenaBytes } = program
    const patchesAt = align(frames.length)
    const offsetsAt = align(patchesAt + patches.length * PATCH_BYTES)
    const hostAt = align(offsetsAt + offsets.byteLength)
    const image = new Uint8Array(hostAt + hostData.length)
    this.code = Storage.allocate(image.length)
    // frames may name intermediates of no elements, which need an address even where they are all that there is
    try {
      this.arena = fixed.some(({ base }) => base === ARENA) ? Storage.allocate(arenaBytes) : null
    } catch (error) {
      this.code.free()
      throw error
    }
    // a module that nobody disposed takes them along when it is collected
    for (const storage of [this.code, this.arena]) storage?.watch()
    const address = this.code.address
    const view = new DataView(image.buffer)
    image.set(frames)
    patches.forEach(({ at, slot, offset }, i) => {
      const row = patchesAt + i * PATCH_BYTES
      for (const [j, word] of [at, slot, offset].entries()) view.setBigInt64(row + 8 * j, BigInt(word), true)
    })
    image.set(new Uint8Array(offsets.buffer), offsetsAt)
    image.set(hostData, hostAt)
    for (const { at, base, offset } of fixed) {
      const start = base === ARENA ? this.arena!.address : base === HOST_DATA ? address + hostAt : constants[base]!
      view.setBigInt64(at, BigInt(start + offset), true)
    }
    if (image.length > 0) kernels.mem_write({ address, bytes: image.length }, image)
    this.frame = {
      count: offsets.length,
      patch_count: patches.length,
      cancel: 0,
      levels,
      frames: address,
      offsets: address + offsetsAt,
      patches: address + patchesAt,
      times: 0,
      nanoseconds: 0,
      slots: [],
    }
  }

  dispose(): void {
    this.code.free()
    this.arena?.free()
  }
}

function align(bytes: number): number {
  return Math.ceil(bytes / 64) * 64
}
