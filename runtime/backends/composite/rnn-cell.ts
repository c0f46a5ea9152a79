import { check } from '../../error.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { checkWeights, denseLinear } from '../cpu/rnn.js'
import { contiguousCopy, contiguousOf } from '../cpu/support/copy.js'
import { CellKind, runLayer } from '../cpu/support/recurrent.js'

/** Single cells: one step for a batch of rows. */

/** Overwrites the states `h` (and `c`), both dense. */
function step(
  kind: number,
  input: Tensor,
  h: Tensor,
  c: Tensor | null,
  wIh: Tensor,
  wHh: Tensor,
  bIh: Tensor | null,
  bHh: Tensor | null,
): void {
  for (const t of c === null ? [input, h] : [input, h, c]) {
    check(
      t.shape.length === 2 && t.shape[0] === input.shape[0],
      () => `expected matrices of as many rows, found shapes [${input.shape.join(', ')}] and [${t.shape.join(', ')}]`,
    )
    check(t.type === input.type, () => `expected one dtype, found ${input.dtype} and ${t.dtype}`)
  }
  const [batch, inputs] = input.shape as [number, number]
  const units = h.shape[1]!
  check(
    c === null || c.shape[1] === units,
    () => `expected states of one shape, found [${h.shape.join(', ')}] and [${c!.shape.join(', ')}]`,
  )
  const weights = { inputWeight: wIh, stateWeight: wHh, inputBias: bIh, stateBias: bHh, projection: null }
  checkWeights(kind, weights, inputs, units, units, input.type)
  if (batch === 0) return
  runLayer(kind, contiguousOf(input), [batch], denseLinear(weights, batch), { h, c }, empty(h.shape, h.type), false)
}

export function lstm_cell(input: Tensor, hx: Tensor[], wIh: Tensor, wHh: Tensor, bIh: Tensor | null, bHh: Tensor | null): [Tensor, Tensor] {
  check(hx.length === 2, () => `lstm_cell expects two states, found ${hx.length}`)
  const h = contiguousCopy(hx[0]!)
  const c = contiguousCopy(hx[1]!)
  step(CellKind.lstm, input, h, c, wIh, wHh, bIh, bHh)
  return [h, c]
}

type Cell = (input: Tensor, hx: Tensor, wIh: Tensor, wHh: Tensor, bIh: Tensor | null, bHh: Tensor | null) => Tensor

function cell(kind: number): Cell {
  return (input, hx, wIh, wHh, bIh, bHh) => {
    const h = contiguousCopy(hx)
    step(kind, input, h, null, wIh, wHh, bIh, bHh)
    return h
  }
}

export const gru_cell = cell(CellKind.gru)
export const rnn_tanh_cell = cell(CellKind.tanh)
export const rnn_relu_cell = cell(CellKind.relu)
