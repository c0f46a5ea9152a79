import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkWeights, denseLinear } from './recurrent-weights.js'
import { CellKind } from '../support/recurrent.js'
import { type LayerWeights, lstmStates, type Network, runPacked, runPadded } from './rnn-network.js'
import { widened } from './rnn-precision.js'

/**
 * Recurrent networks: stacked layers, in one or two directions, over padded (`input`) or packed (`data`) sequences.
 * Parameters come layer by layer, direction by direction: w_ih, w_hh, then b_ih and b_hh, then w_hr of a projection.
 */

export * from './packed-sequence.js'
export * from './rnn-cell.js'

/** The parameters of each layer and direction. Throws INVALID_ARGUMENT for a number of tensors that does not fit. */
function denseWeights(kind: number, params: readonly Tensor[], hasBiases: boolean, count: number, projected: boolean): LayerWeights[] {
  const each = 2 + (hasBiases ? 2 : 0) + (projected ? 1 : 0)
  check(
    params.length === each * count,
    () => `expected ${each * count} parameters, ${each} per layer and direction, found ${params.length}`,
  )
  return Array.from({ length: count }, (_, i) => {
    const at = (k: number): Tensor => params[i * each + k]!
    const weights = {
      inputWeight: at(0),
      stateWeight: at(1),
      inputBias: hasBiases ? at(2) : null,
      stateBias: hasBiases ? at(3) : null,
      projection: projected ? at(each - 1) : null,
    }
    return {
      check: (inputs, units, hidden, x) => checkWeights(kind, weights, inputs, units, hidden, x.type),
      linear: (batch) => denseLinear(weights, batch),
    }
  })
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
  return {
    kind,
    layers,
    dropout: train ? p : 0,
    directions: bidirectional ? 2 : 1,
    weights: (count, projected) => denseWeights(kind, params, hasBiases, count, projected),
  }
}

type LstmResult = [Tensor, Tensor, Tensor]

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
  return widened(input, [...lstmStates(hx), ...params], (x, [h0, c0, ...weights]) => {
    const net = network(CellKind.lstm, weights, hasBiases, layers, p, train, bidirectional)
    const { rows, h, c } = runPadded(net, x, batchFirst, h0!, c0!)
    return [rows, h, c!]
  })
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
  return widened(data, [...lstmStates(hx), ...params], (x, [h0, c0, ...weights]) => {
    const net = network(CellKind.lstm, weights, hasBiases, layers, p, train, bidirectional)
    const { rows, h, c } = runPacked(net, x, batchSizes, h0!, c0!)
    return [rows, h, c!]
  })
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
  return (input, hx, params, hasBiases, layers, p, train, bidirectional, batchFirst) =>
    widened(input, [hx, ...params], (x, [h0, ...weights]) => {
      const result = runPadded(network(kind, weights, hasBiases, layers, p, train, bidirectional), x, batchFirst, h0!, null)
      return [result.rows, result.h]
    })
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
  return (data, batchSizes, hx, params, hasBiases, layers, p, train, bidirectional) =>
    widened(data, [hx, ...params], (x, [h0, ...weights]) => {
      const result = runPacked(network(kind, weights, hasBiases, layers, p, train, bidirectional), x, batchSizes, h0!, null)
      return [result.rows, result.h]
    })
}

export const gru_input = padded(CellKind.gru)
export const gru_data = packed(CellKind.gru)
export const rnn_tanh_input = padded(CellKind.tanh)
export const rnn_tanh_data = packed(CellKind.tanh)
export const rnn_relu_input = padded(CellKind.relu)
export const rnn_relu_data = packed(CellKind.relu)
