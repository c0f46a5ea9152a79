import { BinaryOp, Compute } from '../../runtime/native/generated/kernels.js'
import type { CapturedFrame, CapturedRun } from './captured.js'
import { fieldOf } from './frame-layout.js'

/** Of binary operations on integers, those that fail for a divisor of zero. */
const DIVISIONS: ReadonlySet<number> = new Set([BinaryOp.div_floor, BinaryOp.div_trunc, BinaryOp.remainder, BinaryOp.fmod])

/** Whether a frame succeeds for all contents of its memory: its kernel does, or with this operation. */
export function isTotal({ layout, bytes }: Pick<CapturedFrame, 'layout' | 'bytes'>): boolean {
  if (layout.total) return true
  return layout.name === 'binary' && !(fieldOf(layout, bytes, 'compute') === Compute.i64 && DIVISIONS.has(fieldOf(layout, bytes, 'op')))
}

/** True where a run could fail after it has written to some of these inputs, or drawn random numbers. */
export function mayFailMidway({ frames }: CapturedRun, written: readonly number[]): boolean {
  const first = frames.findIndex(
    ({ layout, pointers }) => layout.random || pointers.some(({ target }) => target.kind === 'input' && written.includes(target.index)),
  )
  return first >= 0 && frames.slice(first).some((frame) => !isTotal(frame))
}
