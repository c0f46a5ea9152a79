import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { checkInRange, Float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { isRepeated, lastWritten, outputFor, placesOf } from '../../tensor/out.js'
import { sameShape, wrapDim } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { drawSlopes } from './random.js'
import { copyInto, laidOutLike } from '../support/copy.js'
import type { CPU } from '../support/generated/interfaces.js'
import { checkPlain, computeFor, notFor, runBinary, runUnary } from './support/elementwise.js'
import { abs_out, exp_out, neg_out } from './unary.js'
import { floating } from './activation.js'

/** Activation functions of neural networks, element by element. Most take floating-point tensors only. */

/** Where a result goes that lies in rows, whatever the input does. */
function inRows(self: Tensor, out: Tensor | undefined): Tensor | undefined {
  return self.isContiguous || out === self ? out : outputFor(out, self.shape, self.type)
}

const ActivationOp = kernels.ActivationOp

const BinaryOp = kernels.BinaryOp

/** x * tanh(softplus(x)) */
export function mish_out(self: Tensor, out?: Tensor): Tensor {
  return floating('mish', ActivationOp.mish, self, out)
}

/** log(1 + exp(beta * x)) / beta, x itself where beta * x is above the threshold. */
export function softplus_out(self: Tensor, beta: Scalar, threshold: Scalar, out?: Tensor): Tensor {
  return floating('softplus', ActivationOp.softplus, self, out, scalarToNumber(beta), scalarToNumber(threshold))
}

/** scale * (x above 0, else alpha * (exp(x * inputScale) - 1)) */
export function elu_out(self: Tensor, alpha: Scalar, scale: Scalar, inputScale: Scalar, out?: Tensor): Tensor {
  const factor = scalarToNumber(scale)
  return floating('elu', ActivationOp.elu, self, out, scalarToNumber(alpha) * factor, factor, scalarToNumber(inputScale))
}

/** max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) */
export function celu(self: Tensor, alpha: Scalar): Tensor {
  return continuousElu(self, alpha, undefined)
}
export function celu_(self: Tensor, alpha: Scalar): Tensor {
  return continuousElu(self, alpha, self)
}

function continuousElu(self: Tensor, alpha: Scalar, out: Tensor | undefined): Tensor {
  const a = scalarToNumber(alpha)
  check(a !== 0, () => 'celu expects an alpha other than 0')
  return floating('celu', ActivationOp.elu, self, out, a, 1, 1 / a)
}

/** x above 0, else slope * x. */
export function leaky_relu_out(self: Tensor, slope: Scalar, out?: Tensor): Tensor {
  return floating('leaky_relu', ActivationOp.leaky_relu, self, out, scalarToNumber(slope))
}

/** Moves elements towards 0 by lambda, those within it to 0. */
export function softshrink_out(self: Tensor, lambda: Scalar, out?: Tensor): Tensor {
  check(scalarToNumber(lambda) >= 0, () => `softshrink expects a lambda of at least 0, found ${scalarToNumber(lambda)}`)
  return floating('softshrink', ActivationOp.softshrink, self, out, scalarToNumber(lambda))
}

/** Elements within lambda of 0 become 0. */
export function hardshrink_out(self: Tensor, lambda: Scalar, out?: Tensor): Tensor {
  return floating('hardshrink', ActivationOp.hardshrink, self, out, scalarToNumber(lambda))
}

/** log(1 / (1 + exp(-x))) */
export function log_sigmoid_out(self: Tensor, out?: Tensor): Tensor {
  return floating('log_sigmoid', ActivationOp.log_sigmoid, self, inRows(self, out))
}

/** log_sigmoid and what its gradient uses: exp(-|x|). */
export function log_sigmoid_forward_out(self: Tensor, output?: Tensor, buffer?: Tensor): [Tensor, Tensor] {
  return [log_sigmoid_out(self, output), exp_out(neg_out(abs_out(self)), inRows(self, buffer))]
}

/** x above the threshold, else value. */
export function threshold_out(self: Tensor, threshold: Scalar, value: Scalar, out?: Tensor): Tensor {
  checkPlain('threshold', self)
  if (self.type === DType.bool) notFor('threshold', self.type)
  checkInRange(self.type, threshold)
  checkInRange(self.type, value)
  const numbers = [scalarToNumber(threshold), scalarToNumber(value)] as const
  const run = (input: Tensor, result?: Tensor): Tensor =>
    runUnary(kernels.activation, ActivationOp.threshold, input, self.type, computeFor(self.type), result, ...numbers)
  if (out === undefined || !isRepeated(out) || !sameShape(out.shape, self.shape)) return run(self, out)
  // what is written twice is so with the same value, unless it is of another tensor
  const places = placesOf(out)
  if (out === self) run(places, places)
  else copyInto(places, lastWritten(run(self), out))
  return out
}

/** x above 0, else weight * x; one weight, or one per channel (dimension 1). */
export function prelu(self: Tensor, weight: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('prelu', self.type)
  check(self.type === weight.type, () => `prelu expects a weight of dtype ${self.dtype}, found ${weight.dtype}`)
  check(weight.shape.length <= 1, () => `prelu expects a weight of at most 1 dimension, found ${weight.shape.length}`)
  return laidOutLike(runBinary(BinaryOp.prelu, self, channelView(self, weight), self.type, self.type, undefined), self)
}

/** As prelu, with weights that are broadcast against `self`. */
export function _prelu_kernel(self: Tensor, weight: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('prelu', self.type)
  check(self.type === weight.type, () => `prelu expects a weight of dtype ${self.dtype}, found ${weight.dtype}`)
  return laidOutLike(runBinary(BinaryOp.prelu, self, weight, self.type, self.type, undefined), self)
}

function channelView(self: Tensor, weight: Tensor): Tensor {
  if (weight.numel === 1) return viewOf(weight, [], [])
  const rank = self.shape.length
  const channels = rank === 0 ? 1 : rank === 1 ? 1 : self.shape[1]!
  check(weight.numel === channels, () => `prelu expects 1 or ${channels} weights, found ${weight.numel}`)
  const shape = new Array<number>(rank).fill(1)
  const strides = new Array<number>(rank).fill(0)
  shape[1] = channels
  strides[1] = weight.strides[0]!
  return viewOf(weight, shape, strides)
}

/** The slope of negative elements is the middle of its range; in training each has one of its own, drawn at random. */
export const rrelu_with_noise_out: CPU['rrelu_with_noise_out'] = (self, noise, lower, upper, training, generator, out) => {
  if (!isFloating(self.type)) notFor('rrelu', self.type)
  const low = scalarToNumber(lower)
  const high = scalarToNumber(upper)
  check(low <= high, () => `rrelu expects a lower bound of at most the upper one, found ${low} and ${high}`)
  const result = inRows(self, out)
  if (!training) return leaky_relu_out(self, new Float((low + high) / 2), result)
  const slopes = drawSlopes(self, low, high, generator)
  if (noise !== self) copyInto(noise, slopes)
  return runBinary(BinaryOp.prelu, self, slopes, self.type, self.type, result)
}

/** The first half along `dim`, times the sigmoid of the second. */
export function glu_out(self: Tensor, dim: number, out?: Tensor): Tensor {
  if (!isFloating(self.type)) notFor('glu', self.type)
  check(self.shape.length > 0, () => 'glu does not support 0-dimensional tensors')
  const d = wrapDim(dim, self.shape.length)
  const size = self.shape[d]!
  check(size % 2 === 0, () => `glu expects an even size in dimension ${d}, found ${size}`)
  const shape = self.shape.slice()
  shape[d] = size / 2
  const first = viewOf(self, shape, self.strides)
  const second = viewOf(self, shape, self.strides, self.offset + (size / 2) * self.strides[d]!)
  const gate = runUnary(kernels.unary, kernels.UnaryOp.sigmoid, second, self.type, computeFor(self.type), undefined)
  return runBinary(BinaryOp.mul, first, gate, self.type, self.type, out)
}
