import type { Floats } from './floats.js'
import { type FunctionName, functionOf } from './functions.js'
import * as halves from './half-floats.js'
import type { Local, Value } from './values.js'

/** The numbers of a step. */
export interface Numbers {
  readonly alpha: number
  readonly beta: number
  readonly scale: number
}

/** Lanes are floats, or 32-bit integers that are bytes in memory. */
export type Lanes = 'float' | 'int'

type Unary = (e: Floats, x: Local, p: Numbers) => Value
type Binary = (e: Floats, x: Local, y: Local) => Value

export interface Algorithm {
  readonly takes: Lanes
  readonly gives: Lanes
  readonly unary?: Unary
  readonly binary?: Binary
  /** About how many instructions it is. */
  readonly size: number
}

const of = (size: number, unary: Unary): Algorithm => ({ takes: 'float', gives: 'float', unary, size })
const written = (size: number, name: FunctionName): Algorithm => of(size, (e, x, p) => functionOf(e, name, x, p.alpha, p.beta))
const both = (size: number, binary: Binary): Algorithm => ({ takes: 'float', gives: 'float', binary, size })

// where x is NaN, it is right; the instruction gives y
const orNaN = (e: Floats, x: Local, result: Value): Value => e.select(e.isNaN(x), x, result)

const quantized =
  (lowest: number, highest: number): Unary =>
  (e, x, p) => {
    const shifted = e.add(e.div(x, e.f32(p.scale)), e.f32(p.alpha))
    // NaN becomes the lowest value
    const above = e.op('f32x4.pmax', [e.f32(lowest), shifted])
    return e.toInt(e.round(e.op('f32x4.pmin', [e.f32(highest), above])))
  }

/**
 * The element-wise algorithms by the names of JitAlgorithm. What is missing (sums of doubles, tables of bytes) is left to compiled kernels. Each gives
 * the bits of its function in kernels/ops/fused/algorithm_functions.h.
 */
export const ALGORITHMS: Readonly<Partial<Record<string, Algorithm>>> = {
  exp: written(22, 'exp'),
  tanh: written(42, 'tanh'),
  gelu_tanh: written(62, 'gelu_tanh_by_exp'),
  gelu_erf: written(56, 'gelu_erf_by_exp'),
  relu: of(2, (e, x, p) => (p.alpha === 0 ? e.atLeast(x, 0) : e.select(e.greater(x, e.f32(0)), x, e.mul(x, e.f32(p.alpha))))),
  linear: of(2, (e, x, p) => e.multiplyAdd(x, e.f32(p.alpha), e.f32(p.beta))),
  quantize_u8: { ...of(6, quantized(0, 255)), gives: 'int' },
  quantize_s8: { ...of(6, quantized(-128, 127)), gives: 'int' },
  dequantize: { ...of(3, (e, x, p) => e.mul(e.sub(e.toFloat(x), e.f32(p.alpha)), e.f32(p.scale))), takes: 'int' },
  sigmoid: written(34, 'logistic'),
  silu: written(26, 'silu'),
  hardswish: written(5, 'hardswish'),
  hardsigmoid: written(4, 'hardsigmoid'),
  clamp: of(2, (e, x, p) => e.atMost(e.atLeast(x, p.alpha), p.beta)),
  elu: written(32, 'elu'),
  softplus: written(60, 'softplus'),
  mish: written(40, 'mish'),
  abs: of(1, (e, x) => e.abs(x)),
  neg: of(1, (e, x) => e.neg(x)),
  sqrt: of(1, (e, x) => e.sqrt(x)),
  reciprocal: of(1, (e, x) => e.div(e.f32(1), x)),
  log: written(34, 'log'),
  square: of(1, (e, x) => e.mul(x, x)),
  rsqrt: written(2, 'rsqrt'),
  erf: written(50, 'erf'),
  bits_not: of(1, (e, x) => e.op('v128.not', [x])),
  round_bfloat16: of(9, (e, x) => halves.bfloat16Value(e, halves.bfloat16Bits(e, x))),
  round_float16: of(30, (e, x) => halves.float16Value(e, halves.float16Bits(e, x))),
  add: both(1, (e, x, y) => e.add(x, y)),
  sub: both(1, (e, x, y) => e.sub(x, y)),
  mul: both(1, (e, x, y) => e.mul(x, y)),
  div: both(1, (e, x, y) => e.div(x, y)),
  max: both(3, (e, x, y) => orNaN(e, x, e.op('f32x4.pmax', [y, x]))),
  min: both(3, (e, x, y) => orNaN(e, x, e.op('f32x4.pmin', [y, x]))),
  less: both(1, (e, x, y) => e.less(x, y)),
  less_equal: both(1, (e, x, y) => e.lessEqual(x, y)),
  equal: both(1, (e, x, y) => e.equal(x, y)),
  not_equal: both(1, (e, x, y) => e.notEqual(x, y)),
  bits_and: both(1, (e, x, y) => e.and(x, y)),
  bits_or: both(1, (e, x, y) => e.or(x, y)),
  bits_and_not: both(1, (e, x, y) => e.andNot(x, y)),
}
