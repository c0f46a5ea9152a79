import { PtliteError } from '../error.js'
import { type Limited, limitError } from '../limits.js'
import * as kernels from './generated/kernels.js'
import { discardGuarded, takeGuarded } from './guard.js'
import { GUARDED } from './guarded.js'
import { type Block, blockOf, type Counter, giveUp, hold, newAccount } from './held-blocks.js'
import { type MemorySource, systemMemory } from './system-memory.js'

export type { Block, MemorySource }

/**
 * The one allocator of tensor memory. Blocks are 64-byte aligned, rounded up to a size class and kept for reuse
 * when released, so that a model's second run asks the operating system for nothing. Classes step by an eighth
 * of a power of two; small blocks are cut from slabs. A large one may be a released block that is larger still: the first
 * use of a page costs more than what is computed in it.
 *
 * With PTLITE_GUARD every block is memory of its own between guard pages (guard.ts), of just the bytes that were asked for.
 */

const SLAB_BYTES = 1 << 16
const SMALL_BYTES = 1 << 13
/** Released large blocks kept for reuse; beyond it they go back to the system. */
const CACHE_LIMIT = 256 * 1024 * 1024

/** How many times the bytes that are asked for a reused block may have. */
const MAX_WASTE = 2

let source: MemorySource = GUARDED ? { take: takeGuarded, discard: discardGuarded } : systemMemory

/** Takes memory from elsewhere from now on: for threads whose memory others use. */
export function useMemory(other: MemorySource): void {
  source = other
}

const collected = /* @__PURE__ */ new FinalizationRegistry<Counter>(({ used }) => (liveBytes -= used))
const free = new Map<number, Block[]>()
/** What is left of the slab that blocks are cut from, the last first. */
let slab = { bytes: 0 } as Block
let cachedBytes = 0
let liveBytes = 0
let peakBytes = 0

/** What holds for bytes in use while a call runs. */
export interface MemoryLimit {
  readonly who: Limited
  /** What the call may have. */
  readonly limit: number
  /** What `live` may be. */
  readonly ceiling: number
}

let limitOfCall: MemoryLimit | null = null
let ceiling = Infinity

/** From now on `allocate` refuses what would be too much; null: nothing. Returns what held before, to be put back when done. */
export function limitMemory(limit: MemoryLimit | null): MemoryLimit | null {
  const before = limitOfCall
  limitOfCall = limit
  ceiling = limit?.ceiling ?? Infinity
  return before
}

/** What holds for each block by itself while it is set. */
export interface BlockLimit {
  readonly bytes: number
  /** Is called with what is asked for, where that is more. */
  readonly refuse: (bytes: number) => never
}

let limitOfBlocks: BlockLimit | null = null
let largestBlock = Infinity

/** From now on `allocate` refuses larger blocks; null: none. */
export function limitBlocks(limit: BlockLimit | null): void {
  limitOfBlocks = limit
  largestBlock = limit?.bytes ?? Infinity
}

/** Bytes that a request of `bytes` occupies. */
export function blockSize(bytes: number): number {
  const step = bytes <= 512 ? 64 : 2 ** (Math.floor(Math.log2(bytes - 1)) - 3)
  return Math.ceil((bytes || 1) / step) * step
}

/** A new block with undefined contents, which stays until it is released or left to the garbage collector. Throws OUT_OF_MEMORY, and LIMIT_EXCEEDED. */
export function allocate(bytes: number): Block {
  // a negative size would give room in a slab back that others have
  if (!(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER)) refuseSize(bytes)
  if (bytes > largestBlock) limitOfBlocks!.refuse(bytes)
  const size = blockSize(bytes)
  if (liveBytes + size > ceiling) throw limitError(limitOfCall!.who, 'bytes', limitOfCall!.limit)
  const block = GUARDED ? fromSystem(bytes) : take(size)
  liveBytes += block.bytes
  if (liveBytes > peakBytes) peakBytes = liveBytes
  hold(block)
  return block
}

function refuseSize(bytes: number): never {
  if (bytes > 0) throw new PtliteError('OUT_OF_MEMORY', `no system has ${bytes} bytes of memory; check the sizes that were asked for`)
  throw new PtliteError('INVALID_ARGUMENT', `expected a size of at least 0 bytes, found ${bytes}`)
}

function take(size: number): Block {
  const list = free.get(size)
  if (list !== undefined && list.length > 0) {
    if (size > SMALL_BYTES) cachedBytes -= size
    return list.pop()!
  }
  if (!(size <= SMALL_BYTES)) return takeLarger(size)
  if (slab.bytes < size) slab = fromSystem(SLAB_BYTES)
  slab.bytes -= size
  return blockOf(slab.address + slab.bytes, size, slab.owner, slab.account)
}

/** The smallest larger block that was released and serves, or a new one. */
function takeLarger(size: number): Block {
  let found = Infinity
  for (const [other, list] of free) if (other > size && other < found && other <= size * MAX_WASTE && list.length > 0) found = other
  if (found === Infinity) return fromSystem(size)
  cachedBytes -= found
  return free.get(found)!.pop()!
}

/** Gives a block of `allocate` back. */
export function release(block: Block): void {
  giveUp(block)
  const size = block.bytes
  liveBytes -= size
  if (size > SMALL_BYTES || GUARDED) {
    if (cachedBytes + size > CACHE_LIMIT || GUARDED) {
      source.discard(block)
      return
    }
    cachedBytes += size
  }
  const list = free.get(size)
  if (list === undefined) free.set(size, [block])
  else list.push(block)
}

/** Returns the cached large blocks to the system. */
export function trimMemory(): void {
  for (const [size, list] of free) if (size > SMALL_BYTES) for (const block of list.splice(0)) source.discard(block)
  cachedBytes = 0
  kernels.mem_trim({})
}

/** Memory of tensors, in this thread. */
export interface MemoryStats {
  /** Bytes of blocks in use, rounded up to their size classes. What is collected counts until the event loop runs, and always in selective builds without the compiler. */
  readonly live: number
  /** Largest `live` so far. */
  readonly peak: number
  /** Bytes of large blocks kept for reuse. */
  readonly cached: number
}

/** What this thread's tensors take. */
export function memoryStats(): MemoryStats {
  return { live: liveBytes, peak: peakBytes, cached: cachedBytes }
}

function fromSystem(bytes: number): Block {
  const { address, owner } = takeOrTrim(bytes)
  return blockOf(address, bytes, owner, newAccount(collected))
}

/** Where the system has no more, what is kept for reuse goes first. */
function takeOrTrim(bytes: number): ReturnType<MemorySource['take']> {
  try {
    return source.take(bytes)
  } catch (error) {
    if (cachedBytes === 0) throw error
    trimMemory()
    return source.take(bytes)
  }
}
