import { type DType, itemSize } from '../../runtime/tensor/dtype.js'
import type { CapturedFrame, CapturedRun, Pointer } from '../capture/captured.js'
import { fieldOf } from '../capture/frame-layout.js'
import type { FrameMember } from '../capture/frame-layout.js'

/** The first and the last frame that touch a buffer; -1 where none does. */
export interface Extent {
  first: number
  last: number
}

/**
 * Lets results take the place of operands that are used for the last time: before, `relu(x)` needs two buffers of one
 * size, after, one. Returns the buffer that stands for each. Which operands give way, kernels declare (`in_place`).
 */
export function shareInPlace(run: CapturedRun, extents: readonly Extent[]): (buffer: number) => number {
  const parent = run.buffers.map((_, i) => i)
  const last = extents.map((e) => e.last)
  const root = (i: number): number => (parent[i] === i ? i : (parent[i] = root(parent[i]!)))
  run.frames.forEach((frame, step) => {
    const fields = [...frame.layout.fields.values()]
    const operands = fields.filter((field) => field.inPlace !== null && bufferAt(frame, field) !== undefined)
    if (operands.length === 0) return
    // the only address that such a kernel writes to
    const result = fields.find(({ access }) => access === 'out')!
    const out = bufferAt(frame, result)
    if (out === undefined || extents[out.target.index]!.first !== step) return
    const places = operands.filter((operand) => givesWay(frame, operand, result)).map(({ offset }) => offset)
    for (const operand of operands) {
      const from = bufferAt(frame, operand)!
      const taken = root(from.target.index)
      const { bytes, isOutput } = run.buffers[from.target.index]!
      // an operand that is returned keeps its contents
      if (isOutput || last[taken] !== step || bytes !== run.buffers[out.target.index]!.bytes) continue
      if (!frame.pointers.every((p) => !isBuffer(p) || root(p.target.index) !== taken || (p.offset === 0 && places.includes(p.at))))
        continue
      parent[out.target.index] = taken
      last[taken] = last[out.target.index]!
      return
    }
  })
  return root
}

function givesWay({ layout, bytes }: CapturedFrame, { name, inPlace }: FrameMember, out: FrameMember): boolean {
  const itemSizeOf = (field: string): number => itemSize(fieldOf(layout, bytes, `${field}_dtype`) as DType)
  return inPlace === 'always' || (fieldOf(layout, bytes, 'ndim') === 0 && itemSizeOf(name) === itemSizeOf(out.name))
}

type BufferPointer = Pointer & { readonly target: { readonly kind: 'buffer' } }

function isBuffer(pointer: Pointer): pointer is BufferPointer {
  return pointer.target.kind === 'buffer'
}

/** The buffer that a field of a frame addresses from its start on. */
function bufferAt(frame: CapturedFrame, { offset }: FrameMember): BufferPointer | undefined {
  const pointer = frame.pointers.find((p) => p.at === offset)
  return pointer !== undefined && isBuffer(pointer) && pointer.offset === 0 ? pointer : undefined
}
