import { PtliteError } from '../error.js'
import * as kernels from './generated/kernels.js'

/**
 * The one allocator of tensor memory. Blocks are 64-byte aligned, rounded up to a size class and kept for reuse
 * when released, so that a model's second run asks the operating system for nothing. Classes step by an eighth
 * of a power of two; small blocks are cut from slabs. A large one may be a released block that is larger still: the first
 * use of a page costs more than what is computed in it.
 */

const SLAB_BYTES = 1 << 18
const SMALL_BYTES = 1 << 14
/** Released large blocks kept for reuse; beyond it they go back to the system. */
const CACHE_LIMIT = 256 * 1024 * 1024

/** How many times the bytes that are asked for a reused block may have. */
const MOST_WASTE = 2

/** Addresses of a process have 47 bits; beyond that a count of bytes is no longer exact either. */
const MOST_BYTES = 2 ** 46

const free = new Map<number, number[]>()
/** Bytes of the blocks in use that are larger than was asked for. */
const larger = new Map<number, number>()
let slab = 0
let slabLeft = 0
let cachedBytes = 0
let liveBytes = 0
let peakBytes = 0

/** Bytes that a request of `bytes` occupies. */
export function blockSize(bytes: number): number {
  const step = bytes <= 512 ? 64 : 2 ** (Math.floor(Math.log2(bytes - 1)) - 3)
  const size = Math.max(Math.ceil(bytes / step) * step, 64)
  const unit = size <= SMALL_BYTES ? 64 : 4096
  return Math.ceil(size / unit) * unit
}

/** Address of a new block with undefined contents. Throws OUT_OF_MEMORY. */
export function allocate(bytes: number): number {
  if (!(bytes <= MOST_BYTES)) {
    throw new PtliteError(
      'OUT_OF_MEMORY',
      `a tensor of ${bytes} bytes is more than a process can address; check the sizes it was asked for`,
    )
  }
  const size = blockSize(bytes)
  const address = take(size)
  liveBytes += size
  if (liveBytes > peakBytes) peakBytes = liveBytes
  return address
}

function take(size: number): number {
  const released = free.get(size)?.pop()
  if (released !== undefined) {
    if (size > SMALL_BYTES) cachedBytes -= size
    return released
  }
  if (size > SMALL_BYTES) return takeLarger(size)
  if (slabLeft < size) {
    slab = fromSystem(SLAB_BYTES)
    slabLeft = SLAB_BYTES
  }
  const address = slab
  slab += size
  slabLeft -= size
  return address
}

/** The smallest larger block that was released and serves, or a new one. */
function takeLarger(size: number): number {
  let found = Infinity
  for (const [other, list] of free) if (other > size && other < found && other <= size * MOST_WASTE && list.length > 0) found = other
  if (found > MOST_BYTES) return fromSystem(size)
  cachedBytes -= found
  const address = free.get(found)!.pop()!
  larger.set(address, found)
  return address
}

/** Gives a block of `allocate(bytes)` back. */
export function release(address: number, bytes: number): void {
  liveBytes -= blockSize(bytes)
  const size = larger.get(address) ?? blockSize(bytes)
  larger.delete(address)
  if (size > SMALL_BYTES) {
    if (cachedBytes + size > CACHE_LIMIT) {
      kernels.mem_free({ address })
      return
    }
    cachedBytes += size
  }
  const list = free.get(size)
  if (list === undefined) free.set(size, [address])
  else list.push(address)
}

/** Returns the cached large blocks to the system. */
export function trimMemory(): void {
  for (const [size, list] of free) if (size > SMALL_BYTES) for (const address of list.splice(0)) kernels.mem_free({ address })
  cachedBytes = 0
  kernels.mem_trim({})
}

export interface MemoryStats {
  /** Bytes of blocks in use, rounded up to their size classes. */
  readonly live: number
  /** Largest `live` so far. */
  readonly peak: number
  /** Bytes of large blocks kept for reuse. */
  readonly cached: number
}

export function memoryStats(): MemoryStats {
  return { live: liveBytes, peak: peakBytes, cached: cachedBytes }
}

function fromSystem(bytes: number): number {
  // the kernel throws OUT_OF_MEMORY itself
  return kernels.mem_alloc({ bytes })
}
