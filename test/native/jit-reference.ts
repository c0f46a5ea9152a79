import type { Algorithm } from './jit-support.js'

/** Phi(x) to double precision: the series near 0, the continued fraction of the tail elsewhere. */
function normalCdf(x: number): number {
  const t = Math.abs(x)
  if (t < 3) {
    let term = t
    let sum = t
    for (let k = 1; Math.abs(term) > 1e-19 * Math.abs(sum); k++) {
      term *= (-t * t * (2 * k - 1)) / (2 * k * (2 * k + 1))
      sum += term
    }
    const half = sum / Math.sqrt(2 * Math.PI)
    return x < 0 ? tail(t, half) : 0.5 + half
  }
  const upper = fraction(t)
  return x < 0 ? upper : 1 - upper
}

// 0.5 - half loses digits beyond t = 1, where the fraction is good already
const tail = (t: number, half: number): number => (t < 1 ? 0.5 - half : fraction(t))

function fraction(t: number): number {
  let f = t
  for (let k = 400; k >= 1; k--) f = t + k / f
  return Math.exp((-t * t) / 2) / Math.sqrt(2 * Math.PI) / f
}

const log1p = Math.log1p
const sigmoid = (x: number): number => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)))
const bounded = (x: number, low: number, high: number): number => (Number.isNaN(x) ? x : Math.min(Math.max(x, low), high))
const even = (x: number): number => {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1
}
const saturate = (x: number, [zero, , scale]: readonly number[], low: number, high: number): number => {
  const shifted = Math.fround(Math.fround(x / scale!) + zero!)
  return Number.isNaN(shifted) ? low : even(Math.min(Math.max(shifted, low), high))
}

/** What each unary algorithm computes, in double precision; p is alpha, beta, scale. */
export const UNARY: Partial<Record<Algorithm, (x: number, p: readonly number[]) => number>> = {
  exp: Math.exp,
  tanh: Math.tanh,
  gelu_tanh: (x) => (x === -Infinity ? NaN : x === Infinity ? x : x * sigmoid(2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  gelu_erf: (x) => x * normalCdf(x),
  relu: (x, p) => (x > 0 ? x : p[0]! * x),
  linear: (x, p) => p[0]! * x + p[1]!,
  quantize_u8: (x, p) => saturate(x, p, 0, 255),
  quantize_s8: (x, p) => saturate(x, p, -128, 127),
  dequantize: (x, p) => (x - p[0]!) * p[2]!,
  sigmoid,
  // 0 where e^-x is infinite, as PyTorch has it
  silu: (x) => (Math.fround(Math.exp(-x)) === Infinity ? (x === -Infinity ? NaN : -0) : x * sigmoid(x)),
  hardswish: (x) => Math.fround(x * bounded(x + 3, 0, 6)) / 6,
  hardsigmoid: (x) => bounded(x + 3, 0, 6) / 6,
  clamp: (x, p) => bounded(x, p[0]!, p[1]!),
  elu: (x, p) => (x > 0 ? x : p[0]! * Math.expm1(x)),
  softplus: (x, p) => (x * p[0]! > p[1]! ? x : log1p(Math.exp(x * p[0]!)) / p[0]!),
  mish: (x) => (x > 40 ? x : x * Math.tanh(log1p(Math.exp(x)))),
  abs: Math.abs,
  neg: (x) => -x,
  sqrt: Math.sqrt,
  reciprocal: (x) => 1 / x,
  log: Math.log,
  square: (x) => x * x,
  rsqrt: (x) => 1 / Math.sqrt(x),
  erf: (x) => (Math.abs(x) < 0.5 ? erfSeries(x) : 2 * normalCdf(x * Math.SQRT2) - 1),
  sin: Math.sin,
  cos: Math.cos,
  round_bfloat16: (x) => toBits(x, 8, -126, 255 * 2 ** 120),
  round_float16: (x) => toBits(x, 11, -14, 65504),
}

/** The nearest number with this many bits of mantissa, ties to even; infinity where that is beyond `most`. */
function toBits(x: number, bits: number, least: number, most: number): number {
  if (x === 0 || !Number.isFinite(x)) return x
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), least)
  const unit = 2 ** (exponent - bits + 1)
  const rounded = even(x / unit) * unit
  return Math.abs(rounded) > most ? Math.sign(x) * Infinity : rounded === 0 ? x * 0 : rounded
}

/** Without the subtraction that loses digits near 0. */
function erfSeries(x: number): number {
  let term = x
  let sum = x
  for (let k = 1; k < 20; k++) {
    term *= (-x * x) / k
    sum += term / (2 * k + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * sum
}

export const BINARY: Partial<Record<Algorithm, (x: number, y: number) => number>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  max: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? NaN : Math.max(x, y)),
  min: (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? NaN : Math.min(x, y)),
}

/** Algorithms whose operand is bytes; the generated table of bytes has its own test. */
export const OF_BYTES: readonly Algorithm[] = ['dequantize', 'int8_lut']

/** Algorithms on bits, such as comparisons give; test/compiler/chain-types.test.ts compares them with operators. */
export const OF_BITS: readonly Algorithm[] = ['bits_not', 'less', 'less_equal', 'equal', 'not_equal', 'bits_and', 'bits_or', 'bits_and_not']

/** Algorithms that compiled kernels have and no code is generated for. */
export const COMPILED_ONLY: readonly Algorithm[] = ['sin', 'cos']

/** Stated bounds in ULP over the whole float32 range (inf where the value cancels: softplus and mish far below 0). */
export const BOUND: Partial<Record<Algorithm, number>> = {
  exp: 2,
  tanh: 4,
  gelu_tanh: 4,
  gelu_erf: 4,
  sigmoid: 4,
  silu: 4,
  log: 2,
  elu: 4,
  softplus: 4,
  mish: 6,
  linear: 1,
  hardswish: 3,
  hardsigmoid: 2,
  rsqrt: 1.5,
  erf: 2,
}
