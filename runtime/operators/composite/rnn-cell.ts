import { check } from '../../error.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { checkWeights, denseLinear } from './recurrent-weights.js'
import { contiguousCopy, contiguousOf } from '../support/copy.js'
import { CellKind, runLayer } from '../support/recurrent.js'
import type { Composite } from '../support/generated/interfaces.js'
import { widened } from './rnn-precision.js'

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

type Weights = [wIh: Tensor, wHh: Tensor, bIh: Tensor | null, bHh: Tensor | null]

/** `run` with everything in the precision that cells are computed in. */
function inPrecision<T extends Tensor | Tensor[]>(
  input: Tensor,
  states: Tensor[],
  wIh: Tensor,
  wHh: Tensor,
  bIh: Tensor | null,
  bHh: Tensor | null,
  run: (input: Tensor, states: Tensor[], weights: Weights) => T,
): T {
  const biases = [bIh, bHh].filter((b) => b !== null)
  return widened(input, [wIh, wHh, ...biases, ...states], (x, all) => {
    const rest = all.slice(2)
    const next = (given: Tensor | null): Tensor | null => (given === null ? null : rest.shift()!)
    const weights: Weights = [all[0]!, all[1]!, next(bIh), next(bHh)]
    return run(x, rest, weights)
  })
}

export function lstm_cell(input: Tensor, hx: Tensor[], wIh: Tensor, wHh: Tensor, bIh: Tensor | null, bHh: Tensor | null): [Tensor, Tensor] {
  check(hx.length === 2, () => `lstm_cell expects two states, found ${hx.length}`)
  return inPrecision(input, hx, wIh, wHh, bIh, bHh, (x, [h0, c0], weights) => {
    const h = contiguousCopy(h0!)
    const c = contiguousCopy(c0!)
    step(CellKind.lstm, x, h, c, ...weights)
    return [h, c] as [Tensor, Tensor]
  })
}

function cell(kind: number): Composite['gru_cell'] {
  return (input, hx, wIh, wHh, bIh, bHh) =>
    inPrecision(input, [hx], wIh, wHh, bIh, bHh, (x, [h0], weights) => {
      const h = contiguousCopy(h0!)
      step(kind, x, h, null, ...weights)
      return h
    })
}

export const gru_cell = cell(CellKind.gru)
export const rnn_tanh_cell = cell(CellKind.tanh)
export const rnn_relu_cell = cell(CellKind.relu)
