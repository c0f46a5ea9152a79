import { linear_clamp_prepack, conv2d_clamp_prepack } from '../../runtime/operators/cpu/prepacked.js'
import { quantizePerTensor } from '../../runtime/operators/support/quantization.js'
import { conv2d_prepack } from '../../runtime/operators/quantized/prepack.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { int } from '../../runtime/tensor/scalar.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { tensor } from '../../src/index.js'
import { passChecks, random } from './pass-checks.js'

/** A matrix of what `value` gives for each row and column. */
function square<T extends number | boolean>(size: number, value: (row: number, column: number) => T, shape: number[]): Tensor {
  return tensor(
    Array.from({ length: size * size }, (_, i) => value(Math.floor(i / size), i % size)),
    shape,
  )
}

/** Constants of the graphs in text, by name. */
export const WEIGHTS: Readonly<Record<string, Tensor>> = {
  conv: random([4, 3, 3, 3]),
  bias: random([4]),
  gamma: random([4]),
  mean: random([4]),
  linear: random([4, 8]),
  matrix: random([1, 8, 4]),
  matrices: random([2, 8, 4]),
  'row of four': random([1, 1, 4]),
  variance: tensor([0.5, 1, 1.5, 2], [4]),
  half: tensor([0.5], []),
  zero: tensor([0], []),
  minusTwo: tensor([-2], []),
  minusInfinity: tensor([-Infinity], []),
  row: random([6]),
  shift: random([6]),
  later: square(9, (row, column) => (column > row ? -3.4e38 : 0), [1, 1, 9, 9]),
  earlier: square(9, (row, column) => column <= row, [9, 9]),
  nothing: square(9, () => 0, [9, 9]),
  window: square(9, (row, column) => (Math.abs(row - column) > 2 ? -Infinity : 0), [9, 9]),
}
/** Packed weights: #0 of a linear layer, #1 of a convolution, #2 of a quantized one. */
export const OBJECTS = [
  linear_clamp_prepack(WEIGHTS['linear']!, WEIGHTS['bias']!, null, int(1)),
  conv2d_clamp_prepack(WEIGHTS['conv']!, null, [1, 1], [1, 1], [1, 1], 1, int(0), null),
  conv2d_prepack(quantizePerTensor(WEIGHTS['conv']!, 0.02, 0, DType.qint8), WEIGHTS['bias']!, [1, 1], [1, 1], [1, 1], 1),
]

export const { parse, check } = passChecks(WEIGHTS, OBJECTS)

/** A convolution of three channels, the value %3. */
export const CONV = `input %0: float32[1, 3, 6, 6] @0
constant %1: float32[4, 3, 3, 3] @1 = "conv"
constant %2: float32[4] @2 = "bias"
%3: float32[1, 4, 6, 6] @3 = aten::conv2d(%0, %1, %2, [1, 1], [1, 1], [1, 1], 1)
`
