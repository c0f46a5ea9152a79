import type { Source } from '../error.js'

export type ScalarKind = 'ptr' | 'i32' | 'i64' | 'f32' | 'f64'

export interface KernelEnum {
  readonly name: string
  readonly values: readonly string[]
  readonly source: Source
}

/** A member of a frame at its place. */
export interface FrameField {
  readonly name: string
  readonly kind: ScalarKind
  /** Enumeration whose values it holds; its kind is i32 then. */
  readonly enumName: string | null
  /** Length of a fixed array; null for a single value. */
  readonly length: number | null
  /** Bytes from the start of the frame. */
  readonly offset: number
}

export interface Kernel {
  readonly name: string
  readonly doc: string
  readonly vectorized: boolean
  /** Takes JavaScript memory, which C sees as `header.host`. */
  readonly host: boolean
  readonly fields: readonly FrameField[]
  /** Written by the kernel. */
  readonly results: readonly FrameField[]
  /** Bytes, header and tail padding included. */
  readonly size: number
  readonly source: Source
}

/** All kernel declarations. A kernel's id is its position. */
export interface KernelAbi {
  readonly enums: readonly KernelEnum[]
  readonly kernels: readonly Kernel[]
}

export const HEADER_BYTES = 16
export const MAX_FRAME_BYTES = 4096
export const SIZE_OF: Record<ScalarKind, number> = { ptr: 8, i64: 8, f64: 8, i32: 4, f32: 4 }
