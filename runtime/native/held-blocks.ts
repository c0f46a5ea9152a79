/** Bytes in use of what the system gave at one time. */
export interface Counter {
  used: number
}

/** Collected some time after the memory, which it does not hold: what is registered for finalization survives V8's frequent collections of young objects. */
export interface Account {
  readonly counter: Counter
}

/** A piece of memory in use or kept for reuse. */
export interface Block {
  readonly address: number
  bytes: number
  /** The memory is there as long as this object. */
  readonly owner: object
  readonly account: Account
  /** Position among the held blocks; -1 for one that is left to the garbage collector. */
  slot: number
}

/**
 * Blocks in use that must not be collected, whether or not JavaScript knows of more than their address. Operators need it only where
 * they are called outside of a scope (scope.ts), as compilers do.
 */
const held: (Block | undefined)[] = []
const freeSlots: number[] = []

/** Keeps a block in use from the garbage collector. */
export function hold(block: Block): void {
  block.account.counter.used += block.bytes
  held[(block.slot = freeSlots.pop() ?? held.length)] = block
}

/** Leaves a block to the garbage collector, which takes it when its `Block` is not referred to. */
export function letGo(block: Block): void {
  if (block.slot < 0) return
  held[block.slot] = undefined
  freeSlots.push(block.slot)
  block.slot = -1
}

/** A block is no longer in use. */
export function giveUp(block: Block): void {
  letGo(block)
  block.account.counter.used -= block.bytes
}

/** The account of new memory: `collected` is told what of it is in use when it is collected. */
export function newAccount(collected: FinalizationRegistry<Counter>): Account {
  const account: Account = { counter: { used: 0 } }
  collected.register(account, account.counter)
  return account
}

/** Memory of JavaScript with undefined contents; its buffer has the length. */
export function hostMemory(length: number): Uint8Array {
  // Buffer clears nothing, but makes no more than 4 GB
  return length >= 2 ** 32 ? new Uint8Array(new ArrayBuffer(length), 0, 64) : Buffer.allocUnsafeSlow(length)
}

/** All blocks have one hidden class, whatever they are cut from: operators come by here for every result. */
export function blockOf(address: number, bytes: number, owner: object, account: Account): Block {
  return { address, bytes, owner, account, slot: -1 }
}
