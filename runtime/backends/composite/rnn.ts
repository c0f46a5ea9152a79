import { check } from '../../error.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { readInts } from '../../tensor/host-values.js'
import * as v from '../../tensor/view.js'
import { type CellWeights, checkWeights, denseLinear } from '../cpu/rnn.js'
import { contiguousCopy, contiguousOf } from '../cpu/support/copy.js'
import { type BatchSizes, CellKind, runLayer } from '../cpu/support/recurrent.js'
import { dropout } from './dropout.js'

/**
 * Recurrent networks: stacked layers, in one or two directions, over padded (`input`) or packed (`data`) sequences.
 * Parameters come layer by layer, direction by direction: w_ih, w_hh, then b_ih and b_hh, then w_hr of a projection.
 */

export * from './packed-sequence.js'
export * from './rnn-cell.js'

interface Network {
  readonly kind: number
  readonly params: readonly Tensor[]
  readonly hasBiases: boolean
  readonly layers: number
  /** Probability of dropout between layers; 0 outside of training. */
  readonly dropout: number
  readonly directions: number
}

/** Output rows and the last states. */
interface Result {
  readonly rows: Tensor
  readonly h: Tensor
  readonly c: Tensor | null
}

/** The parameters of each layer and direction. Throws INVALID_ARGUMENT for a number of tensors that does not fit. */
function weightsOf(net: Network, projected: boolean): CellWeights[] {
  const each = 2 + (net.hasBiases ? 2 : 0) + (projected ? 1 : 0)
  const count = net.layers * net.directions
  check(
    net.params.length === each * count,
    () => `expected ${each * count} parameters, ${each} per layer and direction, found ${net.params.length}`,
  )
  return Array.from({ length: count }, (_, i) => {
    const at = (k: number): Tensor => net.params[i * each + k]!
    return {
      inputWeight: at(0),
      stateWeight: at(1),
      inputBias: net.hasBiases ? at(2) : null,
      stateBias: net.hasBiases ? at(3) : null,
      projection: projected ? at(each - 1) : null,
    }
  })
}

function checkState(name: string, state: Tensor, net: Network, batch: number, x: Tensor): void {
  const count = net.layers * net.directions
  check(
    state.shape.length === 3 && state.shape[0] === count && state.shape[1] === batch,
    () => `expected ${name} of shape [${count}, ${batch}, units], found [${state.shape.join(', ')}]`,
  )
  check(state.type === x.type, () => `expected ${name} of dtype ${x.dtype}, found ${state.dtype}`)
}

/** Runs all layers over rows x [n, inputs] in the order of time. */
function runNetwork(net: Network, x: Tensor, sizes: BatchSizes, hx: Tensor, cx: Tensor | null): Result {
  const batch = sizes[0]!
  checkState('hx', hx, net, batch, x)
  if (cx !== null) checkState('cx', cx, net, batch, x)
  const units = hx.shape[2]!
  const hidden = (cx ?? hx).shape[2]!
  const weights = weightsOf(net, hidden !== units)
  const h = contiguousCopy(hx)
  const c = cx === null ? null : contiguousCopy(cx)
  let rows = contiguousOf(x)
  for (let layer = 0; layer < net.layers; layer++) {
    const out = empty([rows.shape[0]!, net.directions * units], x.type)
    for (let direction = 0; direction < net.directions; direction++) {
      const i = layer * net.directions + direction
      checkWeights(net.kind, weights[i]!, rows.shape[1]!, units, hidden, x.type)
      const state = { h: v.select(h, 0, i), c: c === null ? null : v.select(c, 0, i) }
      const part = v.narrowed(out, 1, direction * units, units)
      runLayer(net.kind, rows, sizes, denseLinear(weights[i]!, batch), state, part, direction === 1)
    }
    rows = layer + 1 < net.layers ? dropout(out, net.dropout, true) : out
  }
  return { rows, h, c }
}

/** Padded sequences [steps, batch, inputs], or [batch, steps, inputs] with `batchFirst`; so is the result. */
function runPadded(net: Network, input: Tensor, batchFirst: boolean, hx: Tensor, cx: Tensor | null): Result {
  check(input.shape.length === 3, () => `expected an input of three dimensions, found shape [${input.shape.join(', ')}]`)
  const x = contiguousOf(batchFirst ? v.transpose(input, 0, 1) : input)
  const [steps, batch, inputs] = x.shape as [number, number, number]
  check(steps > 0, () => 'expected a sequence of at least one step, found none')
  const result = runNetwork(net, v.view(x, [steps * batch, inputs]), new Array<number>(steps).fill(batch), hx, cx)
  const out = v.view(result.rows, [steps, batch, result.rows.shape[1]!])
  return { ...result, rows: batchFirst ? v.transpose(out, 0, 1) : out }
}

/** Packed sequences: rows [n, inputs] by time step and the number of rows of each step. */
function runPacked(net: Network, data: Tensor, batchSizes: Tensor, hx: Tensor, cx: Tensor | null): Result {
  check(data.shape.length === 2, () => `expected packed rows of two dimensions, found shape [${data.shape.join(', ')}]`)
  const sizes = readInts(batchSizes)
  const total = sizes.reduce((sum, n) => sum + n, 0)
  const falling = sizes.every((n, t) => n > 0 && (t === 0 || n <= sizes[t - 1]!))
  check(
    sizes.length > 0 && falling && total === data.shape[0],
    () => `expected batch sizes that do not grow and add up to ${data.shape[0]!}, found [${sizes.join(', ')}]`,
  )
  return runNetwork(net, data, sizes, hx, cx)
}

function network(
  kind: number,
  params: Tensor[],
  hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
): Network {
  return { kind, params, hasBiases, layers, dropout: train ? p : 0, directions: bidirectional ? 2 : 1 }
}

type LstmResult = [Tensor, Tensor, Tensor]

function lstmStates(hx: readonly Tensor[]): [Tensor, Tensor] {
  check(hx.length === 2, () => `lstm expects two states, found ${hx.length}`)
  return [hx[0]!, hx[1]!]
}

export function lstm_input(
  input: Tensor,
  hx: Tensor[],
  params: Tensor[],
  hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
  batchFirst: boolean,
): LstmResult {
  const net = network(CellKind.lstm, params, hasBiases, layers, p, train, bidirectional)
  const { rows, h, c } = runPadded(net, input, batchFirst, ...lstmStates(hx))
  return [rows, h, c!]
}

export function lstm_data(
  data: Tensor,
  batchSizes: Tensor,
  hx: Tensor[],
  params: Tensor[],
  hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
): LstmResult {
  const net = network(CellKind.lstm, params, hasBiases, layers, p, train, bidirectional)
  const { rows, h, c } = runPacked(net, data, batchSizes, ...lstmStates(hx))
  return [rows, h, c!]
}

type PaddedOperator = (
  input: Tensor,
  hx: Tensor,
  params: Tensor[],
  hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
  batchFirst: boolean,
) => [Tensor, Tensor]

function padded(kind: number): PaddedOperator {
  return (input, hx, params, hasBiases, layers, p, train, bidirectional, batchFirst) => {
    const result = runPadded(network(kind, params, hasBiases, layers, p, train, bidirectional), input, batchFirst, hx, null)
    return [result.rows, result.h]
  }
}

type PackedOperator = (
  data: Tensor,
  batchSizes: Tensor,
  hx: Tensor,
  params: Tensor[],
  hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
) => [Tensor, Tensor]

function packed(kind: number): PackedOperator {
  return (data, batchSizes, hx, params, hasBiases, layers, p, train, bidirectional) => {
    const result = runPacked(network(kind, params, hasBiases, layers, p, train, bidirectional), data, batchSizes, hx, null)
    return [result.rows, result.h]
  }
}

export const gru_input = padded(CellKind.gru)
export const gru_data = packed(CellKind.gru)
export const rnn_tanh_input = padded(CellKind.tanh)
export const rnn_tanh_data = packed(CellKind.tanh)
export const rnn_relu_input = padded(CellKind.relu)
export const rnn_relu_data = packed(CellKind.relu)
