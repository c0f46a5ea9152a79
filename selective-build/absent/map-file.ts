import * as kernels from '../../runtime/native/generated/kernels.js'

/** Of a build that always has its kernel library. */
export function mapFile(descriptor: number, size: number, copied: boolean): { address: number; size: number } {
  return { address: kernels.mem_map({ descriptor, copied: Number(copied), size }), size }
}
