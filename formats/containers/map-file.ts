import * as kernels from '../../runtime/native/generated/kernels.js'
import { readWhole } from './read-whole.js'

/** Pages of a file, at an address of this process. */
export interface Mapping {
  readonly address: number
  readonly size: number
}

/** The first `size` bytes of an open file, as pages of it or, where `copied`, of memory; as a buffer where there is no kernel library. */
export function mapFile(descriptor: number, size: number, copied: boolean): Mapping | Buffer {
  try {
    return { address: kernels.mem_map({ descriptor, copied: Number(copied), size }), size }
  } catch (cause) {
    return readWhole(cause, descriptor, size)
  }
}
