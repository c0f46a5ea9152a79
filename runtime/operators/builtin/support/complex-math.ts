import { Complex } from '../../../tensor/scalar.js'
import { copySign, isNegative, pow } from './real.js'

/*
 * Functions of complex numbers in double precision, with the branch cuts, signed zeros, infinities and NaNs of C99 (Annex G).
 * Square roots and inverse functions follow W. Kahan, "Branch Cuts for Complex Elementary Functions".
 */

const { PI } = Math
const isFinitePair = ({ re, im }: Complex): boolean => Number.isFinite(re) && Number.isFinite(im)
const isInfinite = (x: number): boolean => Math.abs(x) === Infinity

/** |z| without overflow. */
export function absOf({ re, im }: Complex): number {
  return Math.hypot(re, im)
}

/** The angle of z in -pi..pi. */
export function angleOf({ re, im }: Complex): number {
  return Math.atan2(im, re)
}

export function product(a: Complex, b: Complex): Complex {
  return new Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

/** a / b by R. L. Smith's method: the smaller part of the divisor is divided by the larger one, so that no square overflows. */
export function quotient({ re: a, im: b }: Complex, { re: c, im: d }: Complex): Complex {
  if (c === 0 && d === 0) return new Complex(a / Math.abs(c), b / Math.abs(d))
  if (Math.abs(c) >= Math.abs(d)) {
    const ratio = d / c
    const scale = 1 / (c + d * ratio)
    return new Complex((a + b * ratio) * scale, (b - a * ratio) * scale)
  }
  const ratio = c / d
  const scale = 1 / (c * ratio + d)
  return new Complex((a * ratio + b) * scale, (b * ratio - a) * scale)
}

/** The number with this absolute value and angle. */
export function polarOf(size: number, angle: number): Complex {
  return new Complex(size * Math.cos(angle), size * Math.sin(angle))
}

export function exp({ re, im }: Complex): Complex {
  if (im === 0) return new Complex(Math.exp(re), im)
  if (Number.isFinite(im)) return scaledByExp(re, Math.cos(im), Math.sin(im))
  if (re === -Infinity) return new Complex(0, copySign(0, im))
  return new Complex(re === Infinity ? re : NaN, NaN)
}

/** e^x (re + im i), where e^x alone may overflow. */
function scaledByExp(x: number, re: number, im: number): Complex {
  if (x < 709 || x === Infinity) return new Complex(Math.exp(x) * re, Math.exp(x) * im)
  const half = Math.exp(x / 2)
  return new Complex(half * re * half, half * im * half)
}

export function log(z: Complex): Complex {
  return new Complex(logOfAbs(z), angleOf(z))
}

/** log |z|; near the unit circle from |z|^2 - 1, which is computed with twice the digits. */
function logOfAbs(z: Complex): number {
  const size = absOf(z)
  if (!(size > 0.5 && size < 2)) return Math.log(size)
  const [a, aRest] = square(Math.max(Math.abs(z.re), Math.abs(z.im)))
  const [b, bRest] = square(Math.min(Math.abs(z.re), Math.abs(z.im)))
  const [c, cRest] = sum(a, -1)
  const [d, dRest] = sum(c, b)
  return Math.log1p(d + (dRest + cRest + aRest + bRest)) / 2
}

/** a + b and what rounding took from it (D. E. Knuth). */
function sum(a: number, b: number): [sum: number, rest: number] {
  const s = a + b
  const part = s - a
  return [s, a - (s - part) + (b - part)]
}

/** x^2 and what rounding took from it (T. J. Dekker). */
function square(x: number): [square: number, rest: number] {
  const scaled = x * 134217729
  const high = scaled - (scaled - x)
  const low = x - high
  const s = x * x
  return [s, high * high - s + 2 * high * low + low * low]
}

export function log10(z: Complex): Complex {
  const { re, im } = log(z)
  return new Complex(re / Math.LN10, im / Math.LN10)
}

export function sqrt({ re, im }: Complex): Complex {
  if (isInfinite(im)) return new Complex(Infinity, im)
  if (!Number.isFinite(re)) return rootOfInfinite(re, im)
  if (Number.isNaN(im)) return new Complex(NaN, NaN)
  if (re === 0 && im === 0) return new Complex(0, im)
  // scaled by a power of 4, so that neither the size nor its half leaves the range of normal numbers
  const largest = Math.max(Math.abs(re), Math.abs(im))
  const scale = largest > 2 ** 1000 ? 2 ** -60 : largest < 2 ** -960 ? 2 ** 60 : 1
  const [x, y] = [re * scale * scale, im * scale * scale]
  const root = Math.sqrt((Math.abs(x) + Math.hypot(x, y)) / 2)
  const other = Math.abs(y) / (2 * root)
  return re >= 0 ? new Complex(root / scale, copySign(other / scale, im)) : new Complex(other / scale, copySign(root / scale, im))
}

function rootOfInfinite(re: number, im: number): Complex {
  if (re === Infinity) return new Complex(re, Number.isNaN(im) ? im : copySign(0, im))
  if (re === -Infinity) return new Complex(Number.isNaN(im) ? im : 0, copySign(Infinity, im))
  return new Complex(NaN, NaN)
}

/** base^exponent as e^(exponent log base). */
export function power(base: Complex, exponent: Complex): Complex {
  return exp(product99(exponent, log(base)))
}

/** The product where an infinity times anything but a zero or a NaN is one, as in C99. */
function product99(a: Complex, b: Complex): Complex {
  const plain = product(a, b)
  if (!Number.isNaN(plain.re) || !Number.isNaN(plain.im)) return plain
  const isAny = (z: Complex): boolean => isInfinite(z.re) || isInfinite(z.im)
  if (!isAny(a) && !isAny(b)) return plain
  const boxed = (z: Complex): Complex => new Complex(copySign(isInfinite(z.re) ? 1 : 0, z.re), copySign(isInfinite(z.im) ? 1 : 0, z.im))
  const finite = (z: Complex): Complex => new Complex(Number.isNaN(z.re) ? 0 : z.re, Number.isNaN(z.im) ? 0 : z.im)
  const { re, im } = product(isAny(a) ? boxed(a) : finite(a), isAny(b) ? boxed(b) : finite(b))
  return new Complex(Infinity * re, Infinity * im)
}

export function realPower(base: Complex, exponent: number): Complex {
  if (base.im === 0 && base.re > 0) return new Complex(pow(base.re, exponent), 0)
  const { re, im } = log(base)
  return polarOf(Math.exp(exponent * re), exponent * im)
}

export function powerOfReal(base: number, exponent: Complex): Complex {
  if (!(base > 0)) return power(new Complex(base, 0), exponent)
  return polarOf(pow(base, exponent.re), exponent.im * Math.log(base))
}

export function sinh({ re, im }: Complex): Complex {
  if (im === 0) return new Complex(Math.sinh(re), im)
  if (!Number.isFinite(im)) return new Complex(re === 0 || isInfinite(re) ? re : NaN, NaN)
  if (re === 0) return new Complex(copySign(0, re * Math.cos(im)), Math.sin(im))
  if (!(Math.abs(re) > 700)) return new Complex(Math.sinh(re) * Math.cos(im), Math.cosh(re) * Math.sin(im))
  return scaledByExp(Math.abs(re), (Math.sign(re) * Math.cos(im)) / 2, Math.sin(im) / 2)
}

export function cosh({ re, im }: Complex): Complex {
  if (im === 0) return new Complex(Math.cosh(re), Number.isNaN(re) ? im : copySign(0, re) * im)
  if (!Number.isFinite(im)) return isInfinite(re) ? new Complex(Infinity, NaN) : new Complex(NaN, re === 0 ? 0 : NaN)
  if (re === 0) return new Complex(Math.cos(im), re * Math.sin(im))
  if (!(Math.abs(re) > 700)) return new Complex(Math.cosh(re) * Math.cos(im), Math.sinh(re) * Math.sin(im))
  return scaledByExp(Math.abs(re), Math.cos(im) / 2, (Math.sign(re) * Math.sin(im)) / 2)
}

export function tanh({ re, im }: Complex): Complex {
  if (isInfinite(re)) {
    const sign = Number.isFinite(im) && Math.abs(im) > 1 ? Math.sin(im) * Math.cos(im) : im
    return new Complex(copySign(1, re), copySign(0, sign))
  }
  if (im === 0) return new Complex(Math.tanh(re), im)
  if (!Number.isFinite(im)) return new Complex(re === 0 ? re : NaN, NaN)
  if (Math.abs(re) > 22) return new Complex(copySign(1, re), 4 * Math.sin(im) * Math.cos(im) * Math.exp(-2 * Math.abs(re)))
  const t = Math.tan(im)
  const s = Math.sinh(re)
  const beta = 1 + t * t
  const divisor = 1 + beta * s * s
  return new Complex((beta * Math.sqrt(1 + s * s) * s) / divisor, t / divisor)
}

/** i z */
function turned({ re, im }: Complex): Complex {
  return new Complex(-im, re)
}

/** -i z */
function turnedBack({ re, im }: Complex): Complex {
  return new Complex(im, -re)
}

export function sin(z: Complex): Complex {
  return turnedBack(sinh(turned(z)))
}

export function tan(z: Complex): Complex {
  return turnedBack(tanh(turned(z)))
}

export function cos(z: Complex): Complex {
  return cosh(turned(z))
}

export function asinh(z: Complex): Complex {
  const { re, im } = z
  if (isInfinite(im)) return new Complex(copySign(Infinity, re), Number.isNaN(re) ? NaN : copySign(isInfinite(re) ? PI / 4 : PI / 2, im))
  if (!isFinitePair(z)) {
    const isFlat = (isInfinite(re) && Number.isFinite(im)) || (Number.isNaN(re) && im === 0)
    return new Complex(Number.isFinite(re) ? NaN : re, isFlat ? copySign(0, im) : NaN)
  }
  return turned(asinOfFinite(turnedBack(z)))
}

export function asin(z: Complex): Complex {
  if (isFinitePair(z)) return asinOfFinite(z)
  if (Number.isNaN(z.re) || Number.isNaN(z.im)) {
    if (z.re === 0) return z
    if (isInfinite(z.re) || isInfinite(z.im)) return new Complex(NaN, copySign(Infinity, z.im))
    return new Complex(NaN, NaN)
  }
  return turnedBack(asinh(turned(z)))
}

/** The roots of 1 - z and 1 + z. */
function rootsAround({ re, im }: Complex): [below: Complex, above: Complex] {
  return [sqrt(new Complex(1 - re, -im)), sqrt(new Complex(1 + re, im))]
}

function asinOfFinite(z: Complex): Complex {
  const [a, b] = rootsAround(z)
  return new Complex(Math.atan2(z.re, a.re * b.re - a.im * b.im), Math.asinh(a.re * b.im - a.im * b.re))
}

export function acos(z: Complex): Complex {
  if (isFinitePair(z)) {
    const [a, b] = rootsAround(z)
    return new Complex(2 * Math.atan2(a.re, b.re), Math.asinh(b.re * a.im - b.im * a.re))
  }
  const { re, im } = asin(z)
  return new Complex(PI / 2 - re, -im)
}

export function acosh(z: Complex): Complex {
  const { re, im } = z
  if (isInfinite(im)) {
    const angle = isInfinite(re) ? (re < 0 ? (3 * PI) / 4 : PI / 4) : PI / 2
    return new Complex(Infinity, Number.isNaN(re) ? NaN : copySign(angle, im))
  }
  if (isInfinite(re)) return new Complex(Infinity, Number.isNaN(im) ? NaN : copySign(re < 0 ? PI : 0, im))
  if (!isFinitePair(z)) return new Complex(NaN, re === 0 ? PI / 2 : NaN)
  const a = sqrt(new Complex(re - 1, im))
  const b = sqrt(new Complex(re + 1, im))
  return new Complex(Math.asinh(a.re * b.re + a.im * b.im), 2 * Math.atan2(a.im, b.re))
}

/** Beyond it, squares overflow. */
const LARGE = 2 ** 510
const TINY = 2 ** -510

export function atanh(z: Complex): Complex {
  const { re, im } = z
  if (!isFinitePair(z)) {
    if (isInfinite(im)) return new Complex(copySign(0, re), copySign(PI / 2, im))
    if (isInfinite(re) || re === 0) return new Complex(copySign(0, re), Number.isNaN(im) ? NaN : copySign(PI / 2, im))
    return new Complex(NaN, NaN)
  }
  if (isNegative(re)) {
    const { re: p, im: q } = atanh(new Complex(-re, -im))
    return new Complex(-p, -q)
  }
  const size = Math.abs(im)
  if (re > LARGE || size > LARGE) {
    const half = Math.hypot(re / 2, im / 2)
    return new Complex(re / 4 / half / half, copySign(PI / 2, im))
  }
  if (re === 1 && size < TINY) {
    if (size === 0) return new Complex(Infinity, im)
    return new Complex(-Math.log(Math.sqrt(size) / Math.sqrt(Math.hypot(size, 2))), copySign(Math.atan2(2, -size) / 2, im))
  }
  const gap = 1 - re
  return new Complex(Math.log1p((4 * re) / (gap * gap + size * size)) / 4, -Math.atan2(-2 * im, gap * (1 + re) - size * size) / 2)
}

export function atan(z: Complex): Complex {
  return turnedBack(atanh(turned(z)))
}
