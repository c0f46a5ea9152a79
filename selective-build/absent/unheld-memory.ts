/** Memory is the garbage collector's as soon as nothing refers to it, and has no guard pages. */
export const GUARDED = false
export const UNCLONEABLE = null

const nothing = (): void => undefined
export { nothing as hold, nothing as letGo, nothing as giveUp, nothing as newAccount }
export { nothing as takeGuarded, nothing as discardGuarded }

export function hostMemory(length: number): Uint8Array {
  return Buffer.allocUnsafeSlow(length)
}
