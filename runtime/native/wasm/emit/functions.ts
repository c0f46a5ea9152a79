import type { Floats } from './floats.js'
import type { Local, Value } from './values.js'

// The functions of kernels/vec/math.h and kernels/ops/elementwise/logistic.h, where they are explained: the same numbers, the same order.

const LOG2_E = 1.44269504
/** ln(2) in two parts, whose first has zeros at its end. */
const LN2_HIGH = 0.693145751953125
const LN2_LOW = 1.428606765330187e-6
/** 1.5 2^23: what is added to it is rounded to an integer. */
const ROUNDER = 12582912
/** Beyond this, e^-t and t e^-t vanish. */
const VANISHED = 110

/** a 2^n, in two steps so that neither power leaves the range. n: integers as integers. */
function scaleBy(e: Floats, a: Value, n: Local): Value {
  const half = e.keep(e.shiftRight(n, 1))
  const power = (exponent: Value): Value => e.shiftLeft(e.addInt(exponent, e.bits(127)), 23)
  return e.mul(e.mul(a, power(half)), power(e.subInt(n, half)))
}

/** x = n ln(2) + r */
function splitLn2(e: Floats, x: Local): { n: Local; r: Local } {
  const n = e.keep(e.round(e.mul(x, e.f32(LOG2_E))))
  const upper = e.keep(e.minusProduct(x, n, e.f32(LN2_HIGH)))
  return { n, r: e.keep(e.minusProduct(upper, n, e.f32(LN2_LOW))) }
}

/** e^r - 1 for |r| <= ln(2) / 2 */
function expReduced(e: Floats, r: Local): Value {
  const series = [0.5, 0.166666672, 0.0416662544, 0.00833326299, 0.00139472249, 0.000199193775]
  return e.multiplyAdd(e.polynomial(r, series), e.mul(r, r), r)
}

export function exp(e: Floats, x: Value): Value {
  const { n, r } = splitLn2(e, e.keep(e.atLeast(e.atMost(x, 89), -104)))
  return scaleBy(e, e.add(expReduced(e, r), e.f32(1)), e.keep(e.toInt(n)))
}

export function log(e: Floats, x: Local): Value {
  const tiny = e.keep(e.less(x, e.f32(1.17549435e-38)))
  const bits = e.keep(e.select(tiny, e.mul(x, e.f32(2 ** 25)), x))
  const k = e.keep(e.shiftRight(e.subInt(bits, e.bits(0x3f3504f3)), 23))
  const m = e.subInt(bits, e.shiftLeft(k, 23))
  const n = e.keep(e.sub(e.toFloat(k), e.and(tiny, e.f32(25))))
  const f = e.keep(e.sub(m, e.f32(1)))
  const series = [0.333333105, -0.249999866, 0.20002228, -0.166692436, 0.142186165, -0.123844616, 0.118734263, -0.117892504, 0.0691356733]
  const s = e.keep(e.mul(f, f))
  const first = e.multiplyAdd(n, e.f32(LN2_LOW), e.mul(e.polynomial(f, series), e.mul(s, f)))
  const tail = e.minusProduct(first, s, e.f32(0.5))
  const result = e.multiplyAdd(n, e.f32(LN2_HIGH), e.add(f, tail))
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
  const series = [-0.333333313, 0.133331954, -0.0539453775, 0.0216926057, -0.00815627631, 0.00212274259]
  const small = e.keep(e.multiplyAdd(e.mul(e.polynomial(s, series), s), x, x))
  const large = e.sub(e.f32(1), e.div(e.f32(2), e.add(exp(e, e.add(t, t)), e.f32(1))))
  return e.select(e.less(t, e.f32(0.63)), small, e.copySign(large, x))
}

export function erf(e: Floats, x: Local): Value {
  const near = [0.128379166, -0.376126379, 0.112837821, -0.0268654004, 0.00522094546, -0.000848282885, 0.000112569476, -9.64151604e-6]
  const far = [
    -0.128420696, -0.636363745, -0.10346476, 0.0201975796, -0.000808764191, -0.0011184935, 0.00045724638, -9.39432066e-5, 1.0613122e-5,
    -5.23386234e-7,
  ]
  const t = e.keep(e.abs(x))
  const square = e.keep(e.mul(x, x))
  const small = e.keep(e.multiplyAdd(e.polynomial(square, near), x, x))
  const bounded = e.keep(e.select(e.greater(t, e.f32(4)), e.f32(4), t))
  const power = e.multiplyAdd(e.polynomial(bounded, far), bounded, e.neg(bounded))
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
  const series = [1, -1, 0.49999994, -0.16666521, 0.041668389, -0.0083687454, 0.00138145395]
  const n = e.keep(e.sub(e.multiplyAdd(e.neg(w), e.f32(Math.fround(LOG2_E) * unit), e.f32(ROUNDER)), e.f32(ROUNDER)))
  const upper = e.multiplyAdd(n, e.f32(Math.fround(0.693147182) / unit), w)
  const both = e.multiplyAdd(n, e.f32(Math.fround(-1.90465421e-9) / unit), upper)
  // a sum with zero changes no bit here but the sign of zero, which the series does not see
  const r = e.keep(low === null ? both : e.add(both, low))
  return { power: e.polynomial(r, series, unit), n }
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
  const s = e.keep(logisticOfMinus(e, e.keep(e.atMost(e.abs(x), VANISHED)), null, null))
  return e.select(e.less(x, e.f32(0)), s, e.sub(e.f32(1), s))
}

export function silu(e: Floats, x: Local): Value {
  const { power, n } = splitExpMinus(e, e.keep(e.atLeast(e.atMost(x, VANISHED), -VANISHED)), null)
  const kept = e.keep(power)
  return e.div(x, e.add(scaleBy(e, kept, e.keep(e.toInt(n))), e.f32(1)))
}

/** max(x, 0) - s; NaN at -infinity */
function positivePartMinus(e: Floats, x: Local, s: Local): Value {
  const half = e.f32(0.5)
  return e.sub(e.multiplyAdd(x, half, e.mul(e.abs(x), half)), s)
}

export function geluTanh(e: Floats, x: Local): Value {
  const [linear, cubic] = [1.5957691216057308, 0.07135481627260025]
  const [linearHigh, cubicHigh] = [Math.fround(linear), Math.fround(cubic)]
  const size = e.keep(e.atMost(e.abs(x), 10.875))
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
  const series = [
    0.744416058, -0.565561771, 0.315425068, -0.116053067, 0.017406268, 0.00649324572, -0.00317481207, -0.000494976877, 0.000421166478,
    0.000110284847,
  ]
  const size = e.keep(e.atMost(e.abs(x), 14.5))
  const square = e.keep(e.mul(size, size))
  const q = e.keep(e.div(size, e.add(size, e.f32(3.5))))
  const split = splitExpMinus(e, square, e.keep(squareRest(e, size, square)), 0.5)
  const power = e.keep(e.mul(split.power, q))
  const g = e.polynomial(e.keep(e.multiplyAdd(q, e.f32(2), e.f32(-1))), series)
  const s = e.keep(e.mul(power, g))
  return positivePartMinus(e, x, e.keep(scaleBy(e, s, e.keep(e.toInt(split.n)))))
}

/** x p / (p + 2) with p = e^x (e^x + 2) */
export function mish(e: Floats, x: Local): Value {
  const cut = e.keep(e.atMost(x, 20))
  const { n, r } = splitLn2(e, e.keep(e.select(e.less(cut, e.f32(-120)), e.f32(-120), cut)))
  const k = e.keep(e.toInt(n))
  let mantissa = e.keep(e.add(expReduced(e, r), e.f32(1)))
  const power = e.keep(scaleBy(e, mantissa, k))
  const sum = e.keep(e.add(power, e.f32(2)))
  mantissa = e.keep(e.div(e.mul(mantissa, sum), e.add(e.mul(power, sum), e.f32(2))))
  const bounded = e.select(e.less(x, e.f32(-128)), e.f32(-128), x)
  const result = e.keep(scaleBy(e, e.mul(mantissa, bounded), k))
  return e.select(e.less(x, e.f32(0)), e.sub(result, e.sub(x, x)), result)
}

/** factor (e^x - 1) below 0 */
export function elu(e: Floats, x: Local, factor: number): Value {
  const below = e.keep(e.select(e.greater(x, e.f32(0)), e.f32(0), x))
  const low = e.keep(e.select(e.less(below, e.f32(-30)), e.f32(-30), below))
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
