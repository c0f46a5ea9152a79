import { check, PtliteError } from '../../error.js'
import { CellKind, gatesOf } from '../support/recurrent.js'
import type { Composite } from '../support/generated/interfaces.js'
import { linear_dynamic, linear_dynamic_fp16 } from '../quantized/linear.js'
import { linearParams } from '../quantized/support/params.js'
import { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { CustomObject, Tuple, type Value } from '../../tensor/value.js'
import * as v from '../../tensor/view.js'
import { type LayerWeights, lstmStates, type Network, networkOf, type Result, runPacked, runPadded, type Settings } from './rnn-network.js'

/** Recurrent networks with 8-bit weights, and with half-precision ones; inputs, states and results are float32. */

const CELL_CLASS = 'rnn.CellParamsBase'

/** State as PyTorch writes it: kind, tensors, floats, ints, packed weights. */
export function make_quantized_cell_params_dynamic(wIh: Value, wHh: Value, bIh: Tensor, bHh: Tensor, reduceRange: boolean): CustomObject {
  return new CustomObject(CELL_CLASS, new Tuple(['quantized_dynamic', [bIh, bHh], [], [reduceRange ? 1 : 0], [wIh, wHh]]))
}

export function make_quantized_cell_params_fp16(wIh: Value, wHh: Value): CustomObject {
  return new CustomObject(CELL_CLASS, new Tuple(['quantized_fp16', [], [], [], [wIh, wHh]]))
}

function weightsOf(kind: number, value: Value): LayerWeights {
  const state = value instanceof CustomObject && value.className === CELL_CLASS && value.state instanceof Tuple ? value.state.items : []
  const [type, , , , packed] = state
  if ((type !== 'quantized_dynamic' && type !== 'quantized_fp16') || !Array.isArray(packed) || packed.length !== 2) {
    throw new PtliteError('INVALID_ARGUMENT', `expected cell parameters of ${CELL_CLASS}, dynamic or half precision`)
  }
  const [input, hidden] = packed as [Value, Value]
  const apply = (weights: Value, x: Tensor): Tensor =>
    type === 'quantized_dynamic' ? linear_dynamic(x, weights, false) : linear_dynamic_fp16(x, weights)
  return {
    check: (inputs, units, cells, x) => {
      check(x.type === DType.float32, () => `expected a float32 input, found ${x.dtype}`)
      const gates = gatesOf(kind) * cells
      const fits = (weights: Value, width: number): boolean => {
        const { shape } = linearParams(weights).weight
        return shape[0] === gates && shape[1] === width
      }
      check(fits(input, inputs) && fits(hidden, units), () => `the packed weights do not fit ${inputs} inputs and ${units} units`)
    },
    linear: () => ({ input: (x) => apply(input, x), state: (h) => apply(hidden, h), project: null }),
  }
}

function network(kind: number, params: Value[], settings: Settings): Network {
  const weights: Network['weights'] = (count, projected) => {
    check(!projected, () => 'quantized networks have no projections')
    check(params.length === count, () => `expected ${count} cell parameters, one per layer and direction, found ${params.length}`)
    return params.map((value) => weightsOf(kind, value))
  }
  return networkOf(kind, weights, settings)
}

export const quantized_lstm_input: Composite['quantized_lstm_input'] = (input, hx, params, ...settings) => {
  const { rows, h, c } = runPadded(network(CellKind.lstm, params, settings), input, settings[5], ...lstmStates(hx))
  return [rows, h, c!]
}

export const quantized_lstm_data: Composite['quantized_lstm_data'] = (data, batchSizes, hx, params, ...settings) => {
  const { rows, h, c } = runPacked(network(CellKind.lstm, params, settings), data, batchSizes, ...lstmStates(hx))
  return [rows, h, c!]
}

export const quantized_gru_input: Composite['quantized_gru_input'] = (input, hx, params, ...settings) => {
  const { rows, h } = runPadded(network(CellKind.gru, params, settings), input, settings[5], hx, null)
  return [rows, h]
}

export const quantized_gru_data: Composite['quantized_gru_data'] = (data, batchSizes, hx, params, ...settings) => {
  const { rows, h } = runPacked(network(CellKind.gru, params, settings), data, batchSizes, hx, null)
  return [rows, h]
}

/** One step for a batch of rows, by networks of one layer over sequences of one. */
function cellStep(kind: number, input: Tensor, h: Tensor, c: Tensor | null, wIh: Value, wHh: Value, bIh: Tensor, bHh: Tensor): Result {
  check(
    input.dim === 2 && h.dim === 2 && (c === null || c.dim === 2),
    () => `expected matrices of rows for input and state, found shapes [${input.shape.join(', ')}] and [${h.shape.join(', ')}]`,
  )
  const net = network(kind, [make_quantized_cell_params_dynamic(wIh, wHh, bIh, bHh, true)], [true, 1, 0, false, false])
  const last = runPadded(net, v.unsqueeze(input, 0), false, v.unsqueeze(h, 0), c === null ? null : v.unsqueeze(c, 0))
  return { rows: last.rows, h: v.select(last.h, 0, 0), c: last.c === null ? null : v.select(last.c, 0, 0) }
}

export const quantized_lstm_cell_dynamic: Composite['quantized_lstm_cell_dynamic'] = (input, hx, wIh, wHh, bIh, bHh) => {
  const { h, c } = cellStep(CellKind.lstm, input, ...lstmStates(hx), wIh, wHh, bIh, bHh)
  return [h, c!]
}

function dynamicCell(kind: number): Composite['quantized_gru_cell_dynamic'] {
  return (input, hx, wIh, wHh, bIh, bHh) => cellStep(kind, input, hx, null, wIh, wHh, bIh, bHh).h
}

export const quantized_gru_cell_dynamic = dynamicCell(CellKind.gru)
export const quantized_rnn_relu_cell_dynamic = dynamicCell(CellKind.relu)
export const quantized_rnn_tanh_cell_dynamic = dynamicCell(CellKind.tanh)
