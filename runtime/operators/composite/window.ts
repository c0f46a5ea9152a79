import { check } from '../../error.js'
import { DType, dtypeName, isFloating } from '../../tensor/dtype.js'
import { checkValueCount, tensorOfDoubles } from '../../tensor/host-values.js'
import type { TensorOptions } from '../../tensor/options.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { copyInto } from '../support/copy.js'
import type { Composite } from '../support/generated/interfaces.js'
import { checkStridedLayout } from './convert.js'

/** Window functions of signal processing. A periodic window is the symmetric one of one more point, without the last. */

/** A window of `length` points; `at(i, last)` is the value at i of 0..last. */
function window(length: number, periodic: boolean, options: TensorOptions, at: (i: number, last: number) => number): Tensor {
  checkStridedLayout(options.layout)
  const type = options.dtype ?? DType.float32
  check(isFloating(type), () => `expected a floating-point dtype for a window, found ${dtypeName(type)}`)
  check(length >= 0, () => `expected a window length of at least 0, found ${length}`)
  const last = periodic ? length : length - 1
  const values = Float64Array.from({ length: checkValueCount(length) }, (_, i) => (length === 1 ? 1 : at(i, last)))
  const out = empty([length], type)
  copyInto(out, tensorOfDoubles(values))
  return out
}

function cosine(i: number, last: number, harmonic = 1): number {
  return Math.cos((2 * Math.PI * harmonic * i) / last)
}

export function bartlett_window_periodic(length: number, periodic: boolean, options: TensorOptions): Tensor {
  return window(length, periodic, options, (i, last) => 1 - Math.abs((2 * i) / last - 1))
}

export function bartlett_window(length: number, options: TensorOptions): Tensor {
  return bartlett_window_periodic(length, true, options)
}

export function blackman_window_periodic(length: number, periodic: boolean, options: TensorOptions): Tensor {
  return window(length, periodic, options, (i, last) => 0.42 - 0.5 * cosine(i, last) + 0.08 * cosine(i, last, 2))
}

export function blackman_window(length: number, options: TensorOptions): Tensor {
  return blackman_window_periodic(length, true, options)
}

export const hamming_window_periodic_alpha_beta: Composite['hamming_window_periodic_alpha_beta'] = (
  length,
  periodic,
  alpha,
  beta,
  options,
) => window(length, periodic, options, (i, last) => alpha - beta * cosine(i, last))

export function hamming_window_periodic_alpha(length: number, periodic: boolean, alpha: number, options: TensorOptions): Tensor {
  return hamming_window_periodic_alpha_beta(length, periodic, alpha, 0.46, options)
}

export function hamming_window_periodic(length: number, periodic: boolean, options: TensorOptions): Tensor {
  return hamming_window_periodic_alpha(length, periodic, 0.54, options)
}

export function hamming_window(length: number, options: TensorOptions): Tensor {
  return hamming_window_periodic(length, true, options)
}

export function hann_window_periodic(length: number, periodic: boolean, options: TensorOptions): Tensor {
  return hamming_window_periodic_alpha_beta(length, periodic, 0.5, 0.5, options)
}

export function hann_window(length: number, options: TensorOptions): Tensor {
  return hann_window_periodic(length, true, options)
}

export function kaiser_window_beta(length: number, periodic: boolean, beta: number, options: TensorOptions): Tensor {
  const scale = besselI0(beta)
  return window(length, periodic, options, (i, last) => besselI0(beta * Math.sqrt(Math.max(1 - ((2 * i) / last - 1) ** 2, 0))) / scale)
}

export function kaiser_window_periodic(length: number, periodic: boolean, options: TensorOptions): Tensor {
  return kaiser_window_beta(length, periodic, 12, options)
}

export function kaiser_window(length: number, options: TensorOptions): Tensor {
  return kaiser_window_periodic(length, true, options)
}

/** The modified Bessel function of the first kind and order 0, by its power series. */
function besselI0(x: number): number {
  const quarter = (x * x) / 4
  let term = 1
  let sum = 1
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= quarter / (k * k)
    sum += term
  }
  return sum
}
