import * as kernels from '../../native/generated/kernels.js'
import type { Tensor } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'

/** Sequences written into a contiguous float32, float64 or int64 tensor. */

function launch(out: Tensor, op: number, start: number, end: number, step: number, base: number, lanes = 0): void {
  kernels.sequence({ op, dtype: out.type, count: out.numel, lanes, out: out.address, start, end, step, base })
  noteWrite(out)
}

/** start + i step */
export function arithmetic(out: Tensor, start: number, step: number): void {
  launch(out, kernels.SequenceOp.arithmetic, start, 0, step, 0)
}

/** Equally spaced from `start` to `end`, both included; integers are truncated by vectors of `lanes` elements. */
export function spaced(out: Tensor, start: number, end: number, lanes: number): void {
  launch(out, kernels.SequenceOp.spaced, start, end, 0, 0, lanes)
}

/** `base` to the power of each equally spaced exponent. */
export function geometric(out: Tensor, start: number, end: number, base: number): void {
  launch(out, kernels.SequenceOp.geometric, start, end, 0, base)
}
