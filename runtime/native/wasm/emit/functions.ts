import * as numbers from '../../generated/coefficients.js'
import type { Floats } from './floats.js'
import type { Local, Value } from './values.js'

// The functions of kernels/vec/math.h and kernels/ops/elementwise/logistic.h, where they are explained: the same numbers, the same order.

/** a 2^n, in two steps so that neither power leaves the range. n: integers as integers. */
function scaleBy(e: Floats, a: Value, n: Local): Value {
  const half = e.keep(e.shiftRight(n, 1))
  const power = (exponent: Value): Value => e.shiftLeft(e.addInt(exponent, e.bits(127)), 23)
  return e.mul(e.mul(a, power(half)), power(e.subInt(n, half)))
}

/** x = n ln(2) + r */
function splitLn2(e: Floats, x: Local): { n: Local; r: Local } {
  const n = e.keep(e.round(e.mul(x, e.f32(numbers.LOG2_E))))
  const upper = e.keep(e.minusProduct(x, n, e.f32(numbers.LN2_HIGH)))
  return { n, r: e.keep(e.minusProduct(upper, n, e.f32(numbers.LN2_LOW))) }
}

/** e^r - 1 for |r| <= ln(2) / 2 */
function expReduced(e: Floats, r: Local): Value {
  return e.multiplyAdd(e.polynomial(r, numbers.EXP), e.mul(r, r), r)
}

export function exp(e: Floats, x: Value): Value {
  const { n, r } = splitLn2(e, e.keep(e.atLeast(e.atMost(x, numbers.EXP_HIGH), numbers.EXP_LOW)))
  return scaleBy(e, e.add(expReduced(e, r), e.f32(1)), e.keep(e.toInt(n)))
}

export function log(e: Floats, x: Local): Value {
  const tiny = e.keep(e.less(x, e.f32(numbers.SMALLEST_NORMAL)))
  const bits = e.keep(e.select(tiny, e.mul(x, e.f32(2 ** 25)), x))
  const k = e.keep(e.shiftRight(e.subInt(bits, e.bits(0x3f3504f3)), 23))
  const m = e.subInt(bits, e.shiftLeft(k, 23))
  const n = e.keep(e.sub(e.toFloat(k), e.and(tiny, e.f32(25))))
  const f = e.keep(e.sub(m, e.f32(1)))
  const s = e.keep(e.mul(f, f))
  const first = e.multiplyAdd(n, e.f32(numbers.LN2_LOW), e.mul(e.polynomial(f, numbers.LOG), e.mul(s, f)))
  const tail = e.minusProduct(first, s, e.f32(0.5))
  const result = e.multiplyAdd(n, e.f32(numbers.LN2_HIGH), e.add(f, tail))
  const zero = e.f32(0)
  const special = e.select(e.equal(x, zero), e.f32(-Infinity), e.select(e.less(x, zero), e.f32(NaN), x))
  return e.select(e.and(e.greater(x, zero), e.less(x, e.f32(Infinity))), result, special)
}

export function log1p(e: Floats, x: Local): Value {
  const u = e.keep(e.add(x, e.f32(1)))
  const lost = e.keep(e.div(e.sub(x, e.sub(u, e.f32(1))), u))
  const result = e.keep(e.add(log(e, u), lost))
  const same = e.or(e.equal(u, e.f32(1)), e.equal(x, e.f32(Infinity)))
  return e.select(same, x, e.select(e.equal(x, e.f32(-1)), e.f32(-Infinity), result))
}

export function tanh(e: Floats, x: Local): Value {
  const t = e.keep(e.abs(x))
  const s = e.keep(e.mul(x, x))
  const small = e.keep(e.multiplyAdd(e.mul(e.polynomial(s, numbers.TANH_NEAR), s), x, x))
  const large = e.sub(e.f32(1), e.div(e.f32(2), e.add(exp(e, e.add(t, t)), e.f32(1))))
  return e.select(e.less(t, e.f32(numbers.TANH_NEAR_END)), small, e.copySign(large, x))
}

export function erf(e: Floats, x: Local): Value {
  const t = e.keep(e.abs(x))
  const square = e.keep(e.mul(x, x))
  const small = e.keep(e.multiplyAdd(e.polynomial(square, numbers.ERF_NEAR), x, x))
  const bounded = e.keep(e.select(e.greater(t, e.f32(numbers.ERF_END)), e.f32(numbers.ERF_END), t))
  const power = e.multiplyAdd(e.polynomial(bounded, numbers.ERF_FAR), bounded, e.neg(bounded))
  const large = e.sub(e.f32(1), exp(e, power))
  return e.select(e.isNaN(x), x, e.select(e.less(t, e.f32(1)), small, e.copySign(large, x)))
}

/** a a - square, where `square` is a a rounded */
function squareRest(e: Floats, a: Local, square: Local): Value {
  // halves of 12 bits, whose products are exact
  const high = e.keep(e.and(a, e.bits(~0xfff)))
  const low = e.keep(e.sub(a, high))
  const middle = e.mul(e.mul(e.f32(2), high), low)
  return e.add(e.add(e.sub(e.mul(high, high), square), middle), e.mul(low, low))
}

/** e^-((w + low) unit) = power 2^n; n: integers as floats */
function splitExpMinus(e: Floats, w: Local, low: Local | null, unit = 1): { power: Value; n: Local } {
  const n = e.keep(
    e.sub(e.multiplyAdd(e.neg(w), e.f32(Math.fround(numbers.LOG2_E) * unit), e.f32(numbers.ROUNDER)), e.f32(numbers.ROUNDER)),
  )
  const upper = e.multiplyAdd(n, e.f32(Math.fround(numbers.LN2) / unit), w)
  const both = e.multiplyAdd(n, e.f32(-Math.fround(numbers.LN2_EXCESS) / unit), upper)
  // a sum with zero changes no bit here but the sign of zero, which the series does not see
  const r = e.keep(low === null ? both : e.add(both, low))
  return { power: e.polynomial(r, numbers.EXP_MINUS, unit), n }
}

/** factor e^-v / (1 + e^-v) for v = w + low; a null factor is 1 */
function logisticOfMinus(e: Floats, w: Local, low: Local | null, factor: Local | null): Value {
  const split = splitExpMinus(e, w, low)
  const power = e.keep(split.power)
  const n = e.keep(e.toInt(split.n))
  const sum = e.keep(e.add(scaleBy(e, power, n), e.f32(1)))
  return scaleBy(e, e.div(factor === null ? power : e.mul(power, factor), sum), n)
}

export function sigmoid(e: Floats, x: Local): Value {
  const s = e.keep(logisticOfMinus(e, e.keep(e.atMost(e.abs(x), numbers.VANISHED)), null, null))
  return e.select(e.less(x, e.f32(0)), s, e.sub(e.f32(1), s))
}

export function silu(e: Floats, x: Local): Value {
  const { power, n } = splitExpMinus(e, e.keep(e.atLeast(e.atMost(x, numbers.VANISHED), -numbers.VANISHED)), null)
  const kept = e.keep(power)
  return e.div(x, e.add(scaleBy(e, kept, e.keep(e.toInt(n))), e.f32(1)))
}

/** max(x, 0) - s; NaN at -infinity */
function positivePartMinus(e: Floats, x: Local, s: Local): Value {
  const half = e.f32(0.5)
  return e.sub(e.multiplyAdd(x, half, e.mul(e.abs(x), half)), s)
}

export function geluTanh(e: Floats, x: Local): Value {
  const [linear, cubic] = [numbers.GELU_TANH_LINEAR, numbers.GELU_TANH_CUBIC]
  const [linearHigh, cubicHigh] = [Math.fround(linear), Math.fround(cubic)]
  const size = e.keep(e.atMost(e.abs(x), numbers.GELU_TANH_END))
  const square = e.keep(e.mul(size, size))
  const first = e.mul(squareRest(e, size, square), e.f32(cubicHigh))
  let rest = e.multiplyAdd(square, e.f32(cubic - cubicHigh), first)
  const part = e.keep(e.mul(square, e.f32(cubicHigh)))
  rest = e.add(rest, e.multiplyAdd(square, e.f32(cubicHigh), e.neg(part)))
  const factor = e.keep(e.add(part, e.f32(linearHigh)))
  const lost = e.keep(e.sub(factor, part))
  rest = e.add(rest, e.sub(part, e.sub(factor, lost)))
  rest = e.add(rest, e.sub(e.f32(linearHigh), lost))
  rest = e.keep(e.add(rest, e.f32(linear - linearHigh)))
  const w = e.keep(e.mul(size, factor))
  const low = e.keep(e.multiplyAdd(rest, size, e.multiplyAdd(size, factor, e.neg(w))))
  return positivePartMinus(e, x, e.keep(logisticOfMinus(e, w, low, size)))
}

export function geluErf(e: Floats, x: Local): Value {
  const size = e.keep(e.atMost(e.abs(x), numbers.GELU_ERF_END))
  const square = e.keep(e.mul(size, size))
  const q = e.keep(e.div(size, e.add(size, e.f32(numbers.GELU_ERF_POLE))))
  const split = splitExpMinus(e, square, e.keep(squareRest(e, size, square)), 0.5)
  const power = e.keep(e.mul(split.power, q))
  const g = e.polynomial(e.keep(e.multiplyAdd(q, e.f32(2), e.f32(-1))), numbers.GELU_ERF)
  const s = e.keep(e.mul(power, g))
  return positivePartMinus(e, x, e.keep(scaleBy(e, s, e.keep(e.toInt(split.n)))))
}

/** x p / (p + 2) with p = e^x (e^x + 2) */
export function mish(e: Floats, x: Local): Value {
  const cut = e.keep(e.atMost(x, numbers.MISH_END))
  const { n, r } = splitLn2(e, e.keep(e.select(e.less(cut, e.f32(numbers.EXP_LOWEST)), e.f32(numbers.EXP_LOWEST), cut)))
  const k = e.keep(e.toInt(n))
  let mantissa = e.keep(e.add(expReduced(e, r), e.f32(1)))
  const power = e.keep(scaleBy(e, mantissa, k))
  const sum = e.keep(e.add(power, e.f32(2)))
  mantissa = e.keep(e.div(e.mul(mantissa, sum), e.add(e.mul(power, sum), e.f32(2))))
  const bounded = e.select(e.less(x, e.f32(numbers.MISH_LOW)), e.f32(numbers.MISH_LOW), x)
  const result = e.keep(scaleBy(e, e.mul(mantissa, bounded), k))
  return e.select(e.less(x, e.f32(0)), e.sub(result, e.sub(x, x)), result)
}

/** factor (e^x - 1) below 0 */
export function elu(e: Floats, x: Local, factor: number): Value {
  const below = e.keep(e.select(e.greater(x, e.f32(0)), e.f32(0), x))
  const low = e.keep(e.select(e.less(below, e.f32(numbers.EXPM1_LOW)), e.f32(numbers.EXPM1_LOW), below))
  const { n, r } = splitLn2(e, low)
  const power = e.keep(scaleBy(e, e.f32(1), e.keep(e.toInt(n))))
  const negative = e.mul(e.multiplyAdd(expReduced(e, r), power, e.sub(power, e.f32(1))), e.f32(factor))
  return e.select(e.greater(x, e.f32(0)), x, negative)
}

/** log(1 + e^(alpha x)) / alpha; x where alpha x > beta */
export function softplus(e: Floats, x: Local, alpha: number, beta: number): Value {
  const y = e.keep(e.mul(x, e.f32(alpha)))
  const result = e.keep(e.div(log1p(e, e.keep(exp(e, y))), e.f32(alpha)))
  return e.select(e.greater(y, e.f32(beta)), x, result)
}

/** Bits of bfloat16 in the lower halves of lanes: rounded to nearest even, NaN the quiet one. */
export function bfloat16Bits(e: Floats, x: Local): Value {
  const odd = e.and(e.shiftRightUnsigned(x, 16), e.bits(1))
  const rounded = e.shiftRightUnsigned(e.addInt(e.addInt(x, odd), e.bits(0x7fff)), 16)
  return e.select(e.isNaN(x), e.bits(0x7fc0), rounded)
}

export function bfloat16Value(e: Floats, bits: Value): Value {
  return e.shiftLeft(bits, 16)
}

/** The same for float16, as kernels/support/float16_bits.h has it. */
export function float16Bits(e: Floats, x: Local): Value {
  const sign = e.and(e.shiftRightUnsigned(x, 16), e.bits(0x8000))
  const magnitude = e.keep(e.and(x, e.bits(0x7fffffff)))
  const isGreater = (bound: number): Value => e.op('i32x4.gt_s', [magnitude, e.bits(bound)])
  const infinite = e.select(isGreater(0x7f800000), e.bits(0x7e00), e.bits(0x7c00))
  const denormal = e.subInt(e.add(magnitude, e.f32(0.5)), e.bits(0x3f000000))
  const odd = e.and(e.shiftRightUnsigned(magnitude, 13), e.bits(1))
  const normal = e.shiftRightUnsigned(e.addInt(e.addInt(magnitude, e.bits(0xfff - 0x38000000)), odd), 13)
  const finite = e.select(isGreater(0x387fffff), normal, denormal)
  return e.or(sign, e.select(isGreater(0x477fffff), infinite, finite))
}

export function float16Value(e: Floats, bits: Value): Value {
  const half = e.keep(bits)
  const magnitude = e.keep(e.and(half, e.bits(0x7fff)))
  const shifted = e.keep(e.shiftLeft(magnitude, 13))
  const infinite = e.op('i32x4.gt_s', [magnitude, e.bits(0x7bff)])
  const value = e.select(infinite, e.or(e.f32(Infinity), shifted), e.mul(shifted, e.f32(2 ** 112)))
  return e.or(e.shiftLeft(e.and(half, e.bits(0x8000)), 16), value)
}
