import type { Source } from '../error.js'

export type ScalarKind = 'ptr' | 'i32' | 'i64' | 'f32' | 'f64'

/** What a kernel does with the memory at an address. Of `out` no result depends on what was there before. */
export type Access = 'in' | 'out' | 'in-out'
export const ACCESSES: readonly Access[] = ['in', 'out', 'in-out']

/** What a kernel does beyond its addresses: it gives memory or takes it back, or changes what its thread or process has. */
export type Effect = 'allocation' | 'process'
export const EFFECTS: readonly Effect[] = ['allocation', 'process']

/**
 * When the output of a kernel may take the place of an operand: always, or where both are dense (`ndim` is 0) with elements of one size. As long as all
 * addresses of a call in this memory are such operands, the kernel reads an element there before it writes the one in its place, and not again.
 */
export type InPlace = 'always' | 'dense'
export const IN_PLACE: readonly InPlace[] = ['always', 'dense']

/** Options of passes that choose kernels. */
export const KERNEL_OPTIONS: readonly string[] = ['winograd']

export interface KernelEnum {
  readonly name: string
  readonly values: readonly string[]
  readonly source: Source
}

/** A number that kernels and their callers share: a limit, how many there is room for, or a status, what a kernel returns. */
export interface KernelNumber {
  readonly kind: 'limit' | 'status'
  readonly name: string
  readonly value: number
  readonly doc: string
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
  /** Of an address that the caller gives; null for all other fields. */
  readonly access: Access | null
  /** Of an operand whose place the output may take. */
  readonly inPlace: InPlace | null
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
  /** The kernel that it is with a mixin, whose frame starts as its own. */
  readonly variant: { readonly of: string; readonly suffix: string } | null
  /** What it does with JavaScript memory, which C sees as `header.host`; null where it takes none. */
  readonly host: Access | null
  /** Draws from a random generator, whose state is one of its addresses. */
  readonly random: boolean
  /** Succeeds for all contents of its memory. */
  readonly total: boolean
  readonly effect: Effect | null
  /** The option of passes that it is used with; null for all others. */
  readonly option: string | null
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
  /** In the order of their declarations. */
  readonly numbers: readonly KernelNumber[]
  readonly kernels: readonly Kernel[]
}

export const HEADER_BYTES = 16
export const MAX_FRAME_BYTES = 4096
export const SIZE_OF: Record<ScalarKind, number> = { ptr: 8, i64: 8, f64: 8, i32: 4, f32: 4 }
