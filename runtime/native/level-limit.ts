import * as kernels from './generated/kernels.js'

/**
 * Runs `run` while kernels that this thread launches are served by `levels`, a set of bits by level, and code is generated for the highest
 * of them; 0: by all that are in use.
 */
export function withLevels<T>(levels: number, run: () => T): T {
  if (levels === 0) return run()
  const before = kernels.cpu_limit({ levels })
  try {
    return run()
  } finally {
    kernels.cpu_limit({ levels: before })
  }
}
