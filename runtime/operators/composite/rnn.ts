import { check } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'
import { checkWeights, denseLinear } from './recurrent-weights.js'
import { CellKind } from '../support/recurrent.js'
import type { Composite } from '../support/generated/interfaces.js'
import { type LayerWeights, lstmStates, type Network, networkOf, runPacked, runPadded, type Settings } from './rnn-network.js'
import { widened } from './rnn-precision.js'

/**
 * Recurrent networks: stacked layers, in one or two directions, over padded (`input`) or packed (`data`) sequences.
 * Parameters come layer by layer, direction by direction: w_ih, w_hh, then b_ih and b_hh, then w_hr of a projection.
 */

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

function network(kind: number, params: Tensor[], settings: Settings): Network {
  return networkOf(kind, (count, projected) => denseWeights(kind, params, settings[0], count, projected), settings)
}

export const lstm_input: Composite['lstm_input'] = (input, hx, params, ...settings) =>
  widened(input, [...lstmStates(hx), ...params], (x, [h0, c0, ...weights]) => {
    const { rows, h, c } = runPadded(network(CellKind.lstm, weights, settings), x, settings[5], h0!, c0!)
    return [rows, h, c!]
  })

export const lstm_data: Composite['lstm_data'] = (data, batchSizes, hx, params, ...settings) =>
  widened(data, [...lstmStates(hx), ...params], (x, [h0, c0, ...weights]) => {
    const { rows, h, c } = runPacked(network(CellKind.lstm, weights, settings), x, batchSizes, h0!, c0!)
    return [rows, h, c!]
  })

function padded(kind: number): Composite['gru_input'] {
  return (input, hx, params, ...settings) =>
    widened(input, [hx, ...params], (x, [h0, ...weights]) => {
      const { rows, h } = runPadded(network(kind, weights, settings), x, settings[5], h0!, null)
      return [rows, h]
    })
}

function packed(kind: number): Composite['gru_data'] {
  return (data, batchSizes, hx, params, ...settings) =>
    widened(data, [hx, ...params], (x, [h0, ...weights]) => {
      const { rows, h } = runPacked(network(kind, weights, settings), x, batchSizes, h0!, null)
      return [rows, h]
    })
}

export const gru_input = padded(CellKind.gru)
export const gru_data = packed(CellKind.gru)
export const rnn_tanh_input = padded(CellKind.tanh)
export const rnn_tanh_data = packed(CellKind.tanh)
export const rnn_relu_input = padded(CellKind.relu)
export const rnn_relu_data = packed(CellKind.relu)
