import { cpu } from './cpu.js'

/** Bytes of the caches of one core, and of what it shares with its neighbours. */
export interface Caches {
  readonly l2: number
  readonly l3: number
}

/** Where the system does not tell the sizes of the caches. */
const USUAL: Caches = { l2: 256 * 1024, l3: 8 << 20 }

let sizes: Caches | undefined

/** Bytes of this CPU's second-level and third-level caches. */
export function cacheSizes(): Caches {
  if (sizes === undefined) {
    const { l2, l3 } = cpu.info().caches
    sizes = { l2: l2 || USUAL.l2, l3: l3 || USUAL.l3 }
  }
  return sizes
}
