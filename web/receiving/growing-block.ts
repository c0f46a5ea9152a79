import type { Mapping } from '../../formats/containers/model-memory.js'
import { PtliteError } from '../../runtime/error.js'
import * as kernels from '../../runtime/native/generated/kernels.js'

/** A size that is said of a file is believed up to here, */
const BELIEVED = 256 << 20
/** and up to so many times of what has come of it. */
const BELIEVED_TIMES = 16
const FIRST_BYTES = 1 << 20
const GROWTH = 1.5

/** A block of the kernels' memory that bytes are written to as they come: one of the size that was announced, where that is true. */
export class GrowingBlock {
  private address = 0
  private room = 0
  private length = 0

  /** `announced`: bytes that will come, as somebody says who need not be right; 0 where nobody does. */
  constructor(private readonly announced: number) {}

  /** Throws OUT_OF_MEMORY. */
  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const needed = this.length + bytes.length
    if (needed > this.room) this.grow(needed)
    kernels.mem_write({ address: this.address + this.length, bytes: bytes.length }, bytes)
    this.length = needed
  }

  /** All that came, whose memory is the caller's from now on. */
  take(): Mapping {
    const mapping = { address: this.address, size: this.length }
    this.address = this.room = this.length = 0
    return mapping
  }

  /** What came, for JavaScript; nothing where kernels cannot be asked any more. */
  copy(): Uint8Array {
    const bytes = new Uint8Array(this.length)
    if (this.length > 0) unlessTrapped(() => kernels.mem_read({ address: this.address, bytes: this.length }, bytes))
    return bytes
  }

  /** Gives the memory back. */
  discard(): void {
    const { address, size } = this.take()
    // after a trap there is nothing to give back to
    if (size > 0) unlessTrapped(() => kernels.mem_free({ address }))
  }

  private grow(needed: number): void {
    const isCredible = this.announced >= needed && this.announced <= Math.max(BELIEVED, BELIEVED_TIMES * needed)
    const wanted = isCredible ? this.announced : Math.max(needed, FIRST_BYTES, Math.floor(GROWTH * this.room))
    const [address, room] = blockOf(wanted, needed)
    if (this.length > 0) {
      kernels.mem_copy({ from: this.address, to: address, bytes: this.length })
      kernels.mem_free({ address: this.address })
    }
    this.address = address
    this.room = room
  }
}

/** A block of `wanted` bytes, or of `needed` ones where there is no memory for more. */
function blockOf(wanted: number, needed: number): readonly [address: number, bytes: number] {
  try {
    return [kernels.mem_alloc({ bytes: wanted }), wanted]
  } catch (error) {
    if (!(error instanceof PtliteError && error.code === 'OUT_OF_MEMORY') || wanted === needed) throw error
    return [kernels.mem_alloc({ bytes: needed }), needed]
  }
}

function unlessTrapped(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof PtliteError && error.code === 'NATIVE_LIBRARY')) throw error
  }
}
