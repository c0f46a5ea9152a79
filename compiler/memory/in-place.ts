import { type DType, itemSize } from '../../runtime/tensor/dtype.js'
import type { CapturedFrame, CapturedRun, Pointer } from '../capture/captured.js'
import { fieldOf } from '../capture/layout.js'
import type { Extent } from './lifetimes.js'

/** Kernels that read an element before they write the one in its place, with the operands whose place the result may take. */
const OVERWRITES: Readonly<Record<string, readonly string[]>> = {
  unary: ['in'],
  activation: ['in'],
  special: ['in'],
  binary: ['a', 'b'],
  ternary: ['a', 'b', 'c'],
  copy: ['in'],
}

/**
 * Lets results take the place of operands that are used for the last time: before, `relu(x)` needs two buffers of one
 * size, after, one. Returns the buffer that stands for each. Frames are dense there, so that result and operand are the same range.
 */
export function shareInPlace(run: CapturedRun, extents: readonly Extent[]): (buffer: number) => number {
  const parent = run.buffers.map((_, i) => i)
  const last = extents.map((e) => e.last)
  const root = (i: number): number => (parent[i] === i ? i : (parent[i] = root(parent[i]!)))
  run.frames.forEach((frame, step) => {
    const operands = OVERWRITES[frame.layout.name]
    if (operands === undefined || fieldOf(frame.layout, frame.bytes, 'ndim') !== 0) return
    const out = bufferAt(frame, 'out')
    if (out === undefined || extents[out.target.index]!.first !== step) return
    for (const operand of operands) {
      const from = bufferAt(frame, operand)
      if (from === undefined || itemSizeOf(frame, operand) !== itemSizeOf(frame, 'out')) continue
      const taken = root(from.target.index)
      const { bytes, isOutput } = run.buffers[from.target.index]!
      // an operand that is returned keeps its contents
      if (isOutput || last[taken] !== step || bytes !== run.buffers[out.target.index]!.bytes) continue
      parent[out.target.index] = taken
      last[taken] = last[out.target.index]!
      return
    }
  })
  return root
}

/** The buffer that a field of a frame addresses from its start on. */
function bufferAt(frame: CapturedFrame, field: string): Pointer | undefined {
  const at = frame.layout.fields.get(field)!.offset
  const pointer = frame.pointers.find((p) => p.at === at)
  return pointer?.target.kind === 'buffer' && pointer.offset === 0 ? pointer : undefined
}

function itemSizeOf(frame: CapturedFrame, operand: string): number {
  return itemSize(fieldOf(frame.layout, frame.bytes, `${operand}_dtype`) as DType)
}
