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

/** How far a kernel reaches from an address. */
export interface Extent {
  /** An expression over the fields of the frame (see expression.ts): bytes from the address on. */
  readonly bytes: string
  /** The address may be 0. */
  readonly optional: boolean
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
  /** By field, `host` for JavaScript memory; null where nothing is declared: a frame of the kernel cannot be checked then. */
  readonly extents: ReadonlyMap<string, Extent> | null
  /** Conditions on the fields that the kernel counts on. */
  readonly require: readonly string[]
  /** Floating-point (or integer) operations of one call; null where that says nothing about the time. */
  readonly flops: string | null
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
