/** Nobody watches runs. */
export const launchObserver = null
export const storageObserver = null
export const moduleObserver = null
export const trapHandler = null
export const TRAP = 255
export const LEFT = null

const nobody = (): null => null
export { nobody as recorderOf, nobody as profilerOf, nobody as observeData, nobody as observeLaunches }

const nothing = (): void => undefined
export { nothing as noteRead, nothing as noteRandom, nothing as noteCall, nothing as noteUse }

const never = (): boolean => false
export { never as modulesObserved }
