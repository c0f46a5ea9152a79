/** Bytes that sizes of blocks are multiples of. */
const UNIT = 1 << 16
/** What is kept for later, at most. */
const MAX_BYTES = 64 << 20
/** Smaller ones cost nothing to make. */
export const LEAST_BYTES = 1 << 16

/**
 * Memory for bodies of requests, which workers hand back. Fresh memory for each has to be cleared, and makes V8 collect garbage for what is
 * outside of its heap, which takes as long as a small network.
 */
export class Blocks {
  private readonly free = new Map<number, ArrayBuffer[]>()
  private kept = 0

  /** A block of `bytes` or more, whose content is anything. */
  take(bytes: number): ArrayBuffer {
    if (bytes < LEAST_BYTES) return new ArrayBuffer(bytes)
    const size = Math.ceil(bytes / UNIT) * UNIT
    const block = this.free.get(size)?.pop()
    if (block === undefined) return new ArrayBuffer(size)
    this.kept -= size
    return block
  }

  /** Takes what nobody uses any more, of whatever origin. */
  giveBack(block: ArrayBuffer): void {
    const size = block.byteLength
    if (size < LEAST_BYTES || size % UNIT !== 0 || this.kept + size > MAX_BYTES) return
    let same = this.free.get(size)
    if (same === undefined) this.free.set(size, (same = []))
    same.push(block)
    this.kept += size
  }
}
