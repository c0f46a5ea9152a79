import { check, PtliteError } from '../../error.js'
import { CellKind, gatesOf } from '../cpu/support/recurrent.js'
import { linear_dynamic, linear_dynamic_fp16 } from '../quantized-cpu/linear.js'
import { linearParams } from '../quantized-cpu/support/params.js'
import { DType } from '../../tensor/dtype.js'
import type { Tensor } from '../../tensor/tensor.js'
import { CustomObject, Tuple, type Value } from '../../tensor/value.js'
import { type LayerWeights, lstmStates, type Network, runPacked, runPadded } from './rnn-network.js'

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

function network(kind: number, params: Value[], layers: number, p: number, train: boolean, bidirectional: boolean): Network {
  return {
    kind,
    layers,
    dropout: train ? p : 0,
    directions: bidirectional ? 2 : 1,
    weights: (count, projected) => {
      check(!projected, () => 'quantized networks have no projections')
      check(params.length === count, () => `expected ${count} cell parameters, one per layer and direction, found ${params.length}`)
      return params.map((value) => weightsOf(kind, value))
    },
  }
}

type LstmResult = [Tensor, Tensor, Tensor]

export function quantized_lstm_input(
  input: Tensor,
  hx: Tensor[],
  params: Value[],
  _hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
  batchFirst: boolean,
  _dtype: DType | null,
  _useDynamic: boolean,
): LstmResult {
  const net = network(CellKind.lstm, params, layers, p, train, bidirectional)
  const { rows, h, c } = runPadded(net, input, batchFirst, ...lstmStates(hx))
  return [rows, h, c!]
}

export function quantized_lstm_data(
  data: Tensor,
  batchSizes: Tensor,
  hx: Tensor[],
  params: Value[],
  _hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
  _dtype: DType | null,
  _useDynamic: boolean,
): LstmResult {
  const net = network(CellKind.lstm, params, layers, p, train, bidirectional)
  const { rows, h, c } = runPacked(net, data, batchSizes, ...lstmStates(hx))
  return [rows, h, c!]
}

export function quantized_gru_input(
  input: Tensor,
  hx: Tensor,
  params: Value[],
  _hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
  batchFirst: boolean,
): [Tensor, Tensor] {
  const { rows, h } = runPadded(network(CellKind.gru, params, layers, p, train, bidirectional), input, batchFirst, hx, null)
  return [rows, h]
}

export function quantized_gru_data(
  data: Tensor,
  batchSizes: Tensor,
  hx: Tensor,
  params: Value[],
  _hasBiases: boolean,
  layers: number,
  p: number,
  train: boolean,
  bidirectional: boolean,
): [Tensor, Tensor] {
  const { rows, h } = runPacked(network(CellKind.gru, params, layers, p, train, bidirectional), data, batchSizes, hx, null)
  return [rows, h]
}
