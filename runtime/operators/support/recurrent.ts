import * as kernels from '../../native/generated/kernels.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { noteWrite } from '../../tensor/observe.js'
import { copyInto } from './copy.js'

/** The kinds of cell, by the kernel's numbers, and the gates of each. */
export const CellKind = kernels.CellKind
const GATES: Readonly<Record<number, number>> = { [CellKind.lstm]: 4, [CellKind.gru]: 3, [CellKind.tanh]: 1, [CellKind.relu]: 1 }

export function gatesOf(kind: number): number {
  return GATES[kind]!
}

/** The linear parts of a cell. Results are dense and of the dtype of the state. */
export interface CellLinear {
  /** Gates of all input rows [n, inputs]: [n, gates * hidden]. */
  readonly input: (x: Tensor) => Tensor
  /** Gates of the state rows h [n, units]: [n, gates * hidden], valid until the next call. */
  readonly state: (h: Tensor) => Tensor
  /** LSTM with a projection: [n, hidden] to [n, units]. */
  readonly project: ((h: Tensor) => Tensor) | null
}

/** State of one layer and direction, dense and overwritten by every step: h [batch, units], c [batch, hidden] for LSTM. */
export interface CellState {
  readonly h: Tensor
  readonly c: Tensor | null
}

/** Rows of each time step, first to last; never more than in the step before (a packed sequence). */
export type BatchSizes = readonly number[]

/** `rows` rows of a matrix from row `start` on. */
export function rowsOf(t: Tensor, start: number, rows: number): Tensor {
  if (start === 0 && t.shape[0] === rows) return t
  return viewOf(t, [rows, ...t.shape.slice(1)], t.strides, t.offset + start * t.strides[0]!)
}

/**
 * Runs one layer in one direction over x [rows, inputs], whose rows are ordered by time step. Row by row the states go to
 * `out` [rows, units], which may have any row stride; `state` holds the last ones at the end.
 */
export function runLayer(
  kind: number,
  x: Tensor,
  sizes: BatchSizes,
  linear: CellLinear,
  state: CellState,
  out: Tensor,
  reverse: boolean,
): void {
  const steps = sizes.length
  const starts = new Array<number>(steps)
  let rows = 0
  for (let t = 0; t < steps; t++) {
    starts[t] = rows
    rows += sizes[t]!
  }
  const gates = linear.input(x)
  const width = gates.shape[1]!
  const hidden = width / gatesOf(kind)
  // with a projection the cell's own output is not yet the state
  const own = linear.project === null ? state.h : empty([state.h.shape[0]!, hidden], state.h.type)
  for (let i = 0; i < steps; i++) {
    const t = reverse ? steps - 1 - i : i
    const batch = sizes[t]!
    const start = starts[t]!
    const h = rowsOf(state.h, 0, batch)
    const fromState = linear.state(h)
    kernels.recurrent_cell({
      kind,
      dtype: gates.type,
      batch,
      hidden,
      gx: gates.address + start * width * gates.itemSize,
      gh: fromState.address,
      c: state.c === null ? 0 : state.c.address,
      h: own.address,
      out: linear.project === null ? out.address + start * out.strides[0]! * out.itemSize : 0,
      out_row: out.strides[0]!,
    })
    if (linear.project !== null) {
      copyInto(h, rowsOf(linear.project(rowsOf(own, 0, batch)), 0, batch))
      copyInto(rowsOf(out, start, batch), h)
    }
  }
  noteWrite(state.h)
  noteWrite(out)
}
