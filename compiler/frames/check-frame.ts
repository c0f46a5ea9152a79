import { KERNEL_EXTENTS } from '../../runtime/native/generated/extents.js'
import type { CapturedFrame, Pointer, Target } from '../capture/captured.js'
import { HOST_OFFSET } from '../capture/frame-layout.js'
import { CapturedFields, FrameError } from './frame-fields.js'

/** Bytes of a piece of memory, from its start or, of an input, from the first element. */
export type SizeOf = (target: Target) => number

/** What an extent of no bytes may be if each of its counts is at least 1: loops around an empty one still count, and tables beside it. */
const MAX_EMPTY_BYTES = 2 ** 26
/** The same of operations. */
const MAX_EMPTY_FLOPS = 2 ** 28
/** Operations of a kernel on however little memory, and on a byte of it: what products and convolutions do is far less. */
const MAX_FREE_FLOPS = 2 ** 32
const MAX_FLOPS_OF_BYTE = 2 ** 18

/** Some kernels say how far they reach; frames of the others cannot be checked, and so not be read from a file. */
export function isCheckable(kernel: string): boolean {
  return Object.hasOwn(KERNEL_EXTENTS, kernel)
}

/**
 * Why a frame must not be run: its numbers make no sense to its kernel, or an address of it is missing or lies so that
 * the kernel would leave the memory that it belongs to. Null where all is well.
 */
export function checkFrame(frame: CapturedFrame, sizeOf: SizeOf): string | null {
  const { name } = frame.layout
  if (!isCheckable(name)) return `kernel ${name} declares no extents`
  const reach = reachOf(frame)
  if (typeof reach === 'string') return reach
  const { pointers, host } = frame
  const byPlace = new Map(pointers.map((p) => [p.at, p]))
  for (const { field, at, bytes, below } of reach) {
    const pointer = byPlace.get(at)
    if (at === HOST_OFFSET) {
      if (host === null || bytes > host.length) return `kernel ${name}: its data are incomplete`
    } else if (bytes > 0 && (pointer === undefined || !holds(pointer, below, bytes, sizeOf))) {
      return `kernel ${name}: it reaches outside of the memory of ${field}`
    }
  }
  return null
}

/** What a kernel reaches from one of its addresses. */
export interface Reach {
  readonly field: string
  /** Byte of the address in its frame. */
  readonly at: number
  readonly bytes: number
  /** Bytes of them that lie in front of the address. */
  readonly below: number
}

/** All that the kernel of a frame reaches, which declares its extents; or why its numbers make no sense to it. */
export function reachOf(frame: CapturedFrame): readonly Reach[] | string {
  try {
    return findReach(frame)
  } catch (error) {
    if (error instanceof FrameError) return `kernel ${frame.layout.name}: ${error.message}`
    throw error
  }
}

function findReach(frame: CapturedFrame): readonly Reach[] | string {
  const { layout, pointers } = frame
  const { reach, enums = {}, require = [], flops } = KERNEL_EXTENTS[layout.name]!
  const fields = new CapturedFields(frame)
  for (const [field, count] of Object.entries(enums)) {
    if (fields.n(field) >= count) return `kernel ${layout.name}: ${field} is ${fields.n(field)}, expected less than ${count}`
  }
  for (const [text, holds] of require) if (!holds(fields)) return `kernel ${layout.name}: expected ${text}`
  const isSet = new Set(pointers.map((p) => p.at))
  const found: Reach[] = []
  let hasEmpty = false
  for (const [key, extent] of Object.entries(reach)) {
    const optional = key.endsWith('?')
    const field = optional ? key.slice(0, -1) : key
    const { offset, count } = field === 'host' ? { offset: HOST_OFFSET, count: 1 } : layout.fields.get(field)!
    for (let each = 0; each < count; each++) {
      const at = offset + 8 * each
      fields.takeBelow()
      const bytes = optional && !isSet.has(at) ? 0 : extent(fields, each)
      if (!(bytes >= 0)) return `kernel ${layout.name}: ${field} has no extent`
      const isEmpty = bytes === 0 && (!optional || isSet.has(at))
      hasEmpty ||= isEmpty
      if (isEmpty && !(fields.filled(() => extent(fields, each)) <= MAX_EMPTY_BYTES))
        return `kernel ${layout.name}: the loops over ${field} are too long`
      // bytes are whole, what a part of them comes to need not be
      found.push({ field, at, bytes, below: Math.round(fields.takeBelow() * bytes) })
    }
  }
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0)
  if (flops !== undefined) {
    if (!(flops(fields) <= Math.max(MAX_FREE_FLOPS, total * MAX_FLOPS_OF_BYTE)))
      return `kernel ${layout.name}: it computes too long on ${total} bytes`
    if (hasEmpty && !(fields.filled(() => flops(fields)) <= Math.max(MAX_EMPTY_FLOPS, total * MAX_FLOPS_OF_BYTE)))
      return `kernel ${layout.name}: the loops over nothing are too long`
  }
  return found
}

/** True where `needed` bytes, `below` of which lie in front of the address, are inside of the memory. */
function holds({ target, offset }: Pointer, below: number, needed: number, sizeOf: SizeOf): boolean {
  return offset - below >= 0 && offset - below + needed <= sizeOf(target)
}

/** Work of one call of a kernel: operations, 0 where they are not counted, and bytes of the memory that it reaches. */
export interface Work {
  readonly flops: number
  readonly bytes: number
}

/** Null where the kernel declares nothing. */
export function workOf(frame: CapturedFrame): Work | null {
  const { layout, pointers } = frame
  if (!isCheckable(layout.name)) return null
  const { reach, flops } = KERNEL_EXTENTS[layout.name]!
  const fields = new CapturedFields(frame)
  const used = new Set(pointers.map((p) => p.at))
  let bytes = 0
  for (const [key, extent] of Object.entries(reach)) {
    const field = layout.fields.get(key.replace('?', ''))
    for (let each = 0; each < (field?.count ?? 0); each++) if (used.has(field!.offset + 8 * each)) bytes += extent(fields, each)
  }
  return { flops: flops?.(fields) ?? 0, bytes }
}
