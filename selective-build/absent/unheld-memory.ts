/** Memory is the garbage collector's as soon as nothing refers to it, and has no guard pages. */
export const GUARDED = false
export const UNCLONEABLE = /* @__PURE__ */ Symbol('a Tensor')

const nothing = (): void => undefined
export { nothing as hold, nothing as letGo, nothing as giveUp, nothing as countUntilCollected }
export { nothing as takeGuarded, nothing as discardGuarded }
