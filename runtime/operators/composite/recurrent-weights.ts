import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'
import { contiguousOf } from '../support/copy.js'
import { PackSide, packedWeight } from '../support/packed-weight.js'
import { type CellLinear, gatesOf } from '../support/recurrent.js'

/** Parameters of one layer and direction of a recurrent network, or of a cell. */
export interface CellWeights {
  readonly inputWeight: Tensor
  readonly stateWeight: Tensor
  readonly inputBias: Tensor | null
  readonly stateBias: Tensor | null
  /** Projection of an LSTM's output: [units, hidden]. */
  readonly projection: Tensor | null
}

const shapeText = (t: Tensor): string => `[${t.shape.join(', ')}]`

function checkShape(name: string, t: Tensor | null, shape: readonly number[], type: DType): void {
  if (t === null) return
  check(
    t.shape.length === shape.length && t.shape.every((n, d) => n === shape[d]),
    () => `expected ${name} of shape [${shape.join(', ')}], found ${shapeText(t)}`,
  )
  check(t.type === type, () => `expected ${name} of dtype ${dtypeName(type)}, found ${t.dtype}`)
}

/** Throws INVALID_ARGUMENT unless the weights fit inputs of `inputs` elements, states h of `units` and dtype `type`. */
export function checkWeights(kind: number, weights: CellWeights, inputs: number, units: number, hidden: number, type: DType): void {
  check(type === DType.float32 || type === DType.float64, () => `recurrent networks expect float32 or float64, found ${dtypeName(type)}`)
  const rows = gatesOf(kind) * hidden
  checkShape('w_ih', weights.inputWeight, [rows, inputs], type)
  checkShape('w_hh', weights.stateWeight, [rows, units], type)
  checkShape('b_ih', weights.inputBias, [rows], type)
  checkShape('b_hh', weights.stateBias, [rows], type)
  checkShape('w_hr', weights.projection, [units, hidden], type)
}

/** The linear parts of a cell with plain weights, for at most `batch` rows of state. */
export function denseLinear(weights: CellWeights, batch: number): CellLinear {
  const { projection } = weights
  return {
    input: (x) => at.linear(x, weights.inputWeight, weights.inputBias),
    state: intoBuffer(weights.stateWeight, weights.stateBias, batch),
    project: projection === null ? null : intoBuffer(projection, null, batch),
  }
}

/** x weight^T + bias into one buffer, so that a long sequence needs no more memory than a step. */
function intoBuffer(weight: Tensor, bias: Tensor | null, batch: number): (x: Tensor) => Tensor {
  const dense = contiguousOf(weight)
  const added = bias === null ? null : contiguousOf(bias)
  const [n, k] = dense.shape as [number, number]
  const out = empty([batch, n], dense.type)
  const pack = packedWeight(dense, PackSide.b, 1, n, k)
  return (x) => {
    kernels.linear({
      dtype: dense.type,
      m: x.shape[0]!,
      n,
      k,
      packed: pack === 0 ? 0 : 1,
      clamped: 0,
      x: x.address,
      weight: pack === 0 ? dense.address : pack,
      bias: added === null ? 0 : added.address,
      out: out.address,
      lo: 0,
      hi: 0,
    })
    return out
  }
}
