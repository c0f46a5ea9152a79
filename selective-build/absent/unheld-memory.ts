import type { Block } from '../../runtime/native/memory.js'

/** Memory is the garbage collector's as soon as nothing refers to it, and has no guard pages. */
export const GUARDED = false
export const UNCLONEABLE = null

const nothing = (): void => undefined
export { nothing as hold, nothing as letGo, nothing as giveUp, nothing as newAccount }
export { nothing as takeGuarded, nothing as discardGuarded }

export function hostMemory(length: number): Uint8Array {
  return Buffer.allocUnsafeSlow(length)
}

export function blockOf(address: number, bytes: number, owner: object): Block {
  return { address, bytes, owner } as Block
}
