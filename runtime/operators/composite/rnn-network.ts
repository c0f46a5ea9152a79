import { check } from '../../error.js'
import { readInts } from '../../tensor/host-values.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { contiguousCopy, contiguousOf } from '../support/copy.js'
import { type BatchSizes, type CellLinear, runLayer } from '../support/recurrent.js'
import { dropout } from './dropout.js'

/** Stacked recurrent layers, in one or two directions, over padded or packed sequences, whatever their weights are. */

/** The weights of one layer and direction. */
export interface LayerWeights {
  /** Throws where they do not fit inputs of this width. */
  readonly check: (inputs: number, units: number, hidden: number, x: Tensor) => void
  readonly linear: (batch: number) => CellLinear
}

export interface Network {
  readonly kind: number
  readonly layers: number
  /** Probability of dropout between layers; 0 outside of training. */
  readonly dropout: number
  readonly directions: number
  /** Weights of all layers and directions; `projected` where the output is narrower than the cells. */
  readonly weights: (count: number, projected: boolean) => readonly LayerWeights[]
}

/** What follows the parameters of each operator; more of some. */
export type Settings = [hasBiases: boolean, layers: number, p: number, train: boolean, bidirectional: boolean, ...more: unknown[]]

export function networkOf(kind: number, weights: Network['weights'], [, layers, p, train, bidirectional]: Settings): Network {
  return { kind, layers, dropout: train ? p : 0, directions: bidirectional ? 2 : 1, weights }
}

/** Output rows and the last states. */
export interface Result {
  readonly rows: Tensor
  readonly h: Tensor
  readonly c: Tensor | null
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
  const weights = net.weights(net.layers * net.directions, hidden !== units)
  const h = contiguousCopy(hx)
  const c = cx === null ? null : contiguousCopy(cx)
  let rows = contiguousOf(x)
  for (let layer = 0; layer < net.layers; layer++) {
    const out = empty([rows.shape[0]!, net.directions * units], x.type)
    for (let direction = 0; direction < net.directions; direction++) {
      const i = layer * net.directions + direction
      weights[i]!.check(rows.shape[1]!, units, hidden, x)
      const state = { h: v.select(h, 0, i), c: c === null ? null : v.select(c, 0, i) }
      const part = v.narrowed(out, 1, direction * units, units)
      runLayer(net.kind, rows, sizes, weights[i]!.linear(batch), state, part, direction === 1)
    }
    rows = layer + 1 < net.layers ? dropout(out, net.dropout, true) : out
  }
  return { rows, h, c }
}

/** Padded sequences [steps, batch, inputs], or [batch, steps, inputs] with `batchFirst`; so is the result. */
export function runPadded(net: Network, input: Tensor, batchFirst: boolean, hx: Tensor, cx: Tensor | null): Result {
  check(input.shape.length === 3, () => `expected an input of three dimensions, found shape [${input.shape.join(', ')}]`)
  const x = contiguousOf(batchFirst ? v.transpose(input, 0, 1) : input)
  const [steps, batch, inputs] = x.shape as [number, number, number]
  check(steps > 0, () => 'expected a sequence of at least one step, found none')
  const result = runNetwork(net, v.view(x, [steps * batch, inputs]), new Array<number>(steps).fill(batch), hx, cx)
  const out = v.view(result.rows, [steps, batch, result.rows.shape[1]!])
  return { ...result, rows: batchFirst ? v.transpose(out, 0, 1) : out }
}

/** Packed sequences: rows [n, inputs] by time step and the number of rows of each step. */
export function runPacked(net: Network, data: Tensor, batchSizes: Tensor, hx: Tensor, cx: Tensor | null): Result {
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

/** The hidden and the cell state of an LSTM. */
export function lstmStates(hx: readonly Tensor[]): [Tensor, Tensor] {
  check(hx.length === 2, () => `lstm expects two states, found ${hx.length}`)
  return [hx[0]!, hx[1]!]
}
