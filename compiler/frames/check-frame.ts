import { KERNEL_EXTENTS } from '../../runtime/native/generated/extents.js'
import type { CapturedFrame, Pointer, Target } from '../capture/captured.js'
import { CapturedFields, FrameError } from './frame-fields.js'

/** Bytes of a piece of memory, from its start or, of an input, from the first element. */
export type SizeOf = (target: Target) => number

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
  try {
    return findFault(frame, sizeOf)
  } catch (error) {
    if (error instanceof FrameError) return `kernel ${name}: ${error.message}`
    throw error
  }
}

function findFault(frame: CapturedFrame, sizeOf: SizeOf): string | null {
  const { layout, pointers, host } = frame
  const { reach, enums = {}, require = [] } = KERNEL_EXTENTS[layout.name]!
  const fields = new CapturedFields(frame)
  for (const [field, count] of Object.entries(enums)) {
    if (fields.n(field) >= count) return `kernel ${layout.name}: ${field} is ${fields.n(field)}, expected less than ${count}`
  }
  for (const [text, holds] of require) if (!holds(fields)) return `kernel ${layout.name}: expected ${text}`
  const byPlace = new Map(pointers.map((p) => [p.at, p]))
  for (const [key, extent] of Object.entries(reach)) {
    const optional = key.endsWith('?')
    const field = optional ? key.slice(0, -1) : key
    if (field === 'host') {
      if (host === null || extent(fields, 0) > host.length) return `kernel ${layout.name}: its data are incomplete`
      continue
    }
    const { offset, count } = layout.fields.get(field)!
    for (let each = 0; each < count; each++) {
      const pointer = byPlace.get(offset + 8 * each)
      fields.takeBelow()
      const needed = pointer === undefined && optional ? 0 : extent(fields, each)
      const below = fields.takeBelow() * needed
      if (!(needed >= 0)) return `kernel ${layout.name}: ${field} has no extent`
      if (needed > 0 && (pointer === undefined || !holds(pointer, below, needed, sizeOf))) {
        return `kernel ${layout.name}: it reaches outside of the memory of ${field}`
      }
    }
  }
  return null
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
