import { type DType, itemSize } from '../../runtime/tensor/dtype.js'
import type { CapturedFrame, CapturedRun, Pointer } from '../capture/captured.js'
import { fieldOf } from '../capture/frame-layout.js'
import type { Extent } from './lifetimes.js'

/** The result of a kernel and the operands whose place it may take. */
interface Overwrites {
  readonly result: string
  readonly operands: readonly string[]
  /** Rows may lie apart unless `ndim` is 0; dtypes may differ. */
  readonly elementwise: boolean
}

const elementwise = (...operands: string[]): Overwrites => ({ result: 'out', operands, elementwise: true })
const RESIDUAL: Overwrites = { result: 'output', operands: ['residual'], elementwise: false }

/** Kernels that read an element of an operand before they write the one in its place, and not again. */
const OVERWRITES: Readonly<Record<string, Overwrites>> = {
  unary: elementwise('in'),
  activation: elementwise('in'),
  special: elementwise('in'),
  binary: elementwise('a', 'b'),
  ternary: elementwise('a', 'b', 'c'),
  copy: elementwise('in'),
  blocked_conv: RESIDUAL,
  winograd_conv: RESIDUAL,
}

/**
 * Lets results take the place of operands that are used for the last time: before, `relu(x)` needs two buffers of one
 * size, after, one. Returns the buffer that stands for each. Result and operand are the same range there: frames are dense, or have no strides.
 */
export function shareInPlace(run: CapturedRun, extents: readonly Extent[]): (buffer: number) => number {
  const parent = run.buffers.map((_, i) => i)
  const last = extents.map((e) => e.last)
  const root = (i: number): number => (parent[i] === i ? i : (parent[i] = root(parent[i]!)))
  run.frames.forEach((frame, step) => {
    const row = OVERWRITES[frame.layout.name]
    if (row === undefined || (row.elementwise && fieldOf(frame.layout, frame.bytes, 'ndim') !== 0)) return
    const out = bufferAt(frame, row.result)
    if (out === undefined || extents[out.target.index]!.first !== step) return
    for (const operand of row.operands) {
      const from = bufferAt(frame, operand)
      if (from === undefined) continue
      const taken = root(from.target.index)
      const alone = row.elementwise ? sameItems(frame, operand, row.result) : usesOf(frame, taken, root) === 1
      const { bytes, isOutput } = run.buffers[from.target.index]!
      // an operand that is returned keeps its contents
      if (!alone || isOutput || last[taken] !== step || bytes !== run.buffers[out.target.index]!.bytes) continue
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

function sameItems(frame: CapturedFrame, a: string, b: string): boolean {
  const itemSizeOf = (operand: string): number => itemSize(fieldOf(frame.layout, frame.bytes, `${operand}_dtype`) as DType)
  return itemSizeOf(a) === itemSizeOf(b)
}

/** How many of a frame's addresses lie in a buffer. */
function usesOf(frame: CapturedFrame, buffer: number, root: (buffer: number) => number): number {
  return frame.pointers.filter(({ target }) => target.kind === 'buffer' && root(target.index) === buffer).length
}
