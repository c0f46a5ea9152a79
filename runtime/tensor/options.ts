import type { DType } from './dtype.js'
import type { Device } from './value.js'

/** at::Layout numbers. */
export const Layout = { strided: 0, sparse: 1, sparseCsr: 2, sparseCsc: 4 } as const
/** at::MemoryFormat numbers. */
export const MemoryFormat = { contiguous: 0, preserve: 1, channelsLast: 2, channelsLast3d: 3 } as const

/** The dtype, layout, device and pin_memory arguments of a factory operator; null where the caller gave none. */
export interface TensorOptions {
  readonly dtype: DType | null
  readonly layout: number | null
  readonly device: Device | null
  readonly pinMemory: boolean | null
}
