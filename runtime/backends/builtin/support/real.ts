import { roundHalfEven } from '../../../tensor/rounding.js'

/** Functions of a double that JavaScript lacks; each is accurate to a few units in the last place. */

/** C's rint(): the nearest integer, ties to the even one, with the sign of x where it is zero. */
export function rint(x: number): number {
  const nearest = roundHalfEven(x)
  return nearest === 0 && (x < 0 || Object.is(x, -0)) ? -0 : nearest
}

/** Power as C's pow, where 1 to any power and anything to the power 0 are 1 (JavaScript gives NaN for 1 ** NaN and 1 ** Infinity). */
export function pow(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1
  return base ** exponent
}

/** C's remainder(): x - n * y with n the integer nearest to x / y, ties to even. */
export function ieeeRemainder(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y) || y === 0 || !Number.isFinite(x)) return NaN
  if (!Number.isFinite(y)) return x
  const size = Math.abs(y)
  const whole = Math.abs(x) % (size > Number.MAX_VALUE / 2 ? Infinity : 2 * size)
  let rest = whole
  if (rest * 2 > size || rest > size / 2) {
    rest -= size
    if (rest * 2 >= size) rest -= size
  }
  const signed = x < 0 || Object.is(x, -0) ? -rest : rest
  return signed === 0 ? (x < 0 || Object.is(x, -0) ? -0 : 0) : signed
}

export function isNegative(x: number): boolean {
  return x < 0 || Object.is(x, -0)
}

export function copySign(magnitude: number, sign: number): number {
  return isNegative(sign) ? -Math.abs(magnitude) : Math.abs(magnitude)
}

/** x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1; zeros and non-finite values are their own mantissa. */
export function frexp(x: number): { mantissa: number; exponent: number } {
  if (x === 0 || !Number.isFinite(x)) return { mantissa: x, exponent: 0 }
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(x))) + 1)
  let mantissa = x * 2 ** (exponent < -1000 ? 1000 : 0)
  mantissa *= 2 ** -(exponent + (exponent < -1000 ? 1000 : 0))
  while (Math.abs(mantissa) < 0.5) {
    mantissa *= 2
    exponent--
  }
  while (Math.abs(mantissa) >= 1) {
    mantissa /= 2
    exponent++
  }
  return { mantissa, exponent }
}

/** x * 2^exponent, rounded once. */
export function ldexp(x: number, exponent: number): number {
  const steps = Math.max(-2200, Math.min(2200, exponent))
  if (steps > 1023) return ldexp(x * 2 ** 1023, steps - 1023)
  // through normal numbers as long as possible, so that only the last step rounds
  if (steps < -1022) {
    const { mantissa, exponent: own } = frexp(x)
    const total = own + steps
    return total >= -1021 ? mantissa * 2 ** total : mantissa * 2 ** Math.max(total + 53, -1070) * 2 ** -53 * (total + 53 < -1070 ? 0 : 1)
  }
  return x * 2 ** steps
}

/** The fractional and the whole part, both with the sign of x. */
export function modf(x: number): [fraction: number, whole: number] {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? [x, x] : [copySign(0, x), x]
  const whole = Math.trunc(x)
  return [copySign(x - whole, x), whole]
}

const SQRT_PI = Math.sqrt(Math.PI)

/** Error function: a power series near zero, else one minus the complement. */
export function erf(x: number): number {
  const size = Math.abs(x)
  if (!(size <= 2)) return Number.isNaN(x) ? NaN : x < 0 ? erfc(size) - 1 : 1 - erfc(size)
  const square = x * x
  let term = x
  let sum = x
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * square) / (2 * n + 1)
    sum += term
  }
  // the series with only positive terms: erf(x) = 2 / sqrt(pi) * exp(-x²) * sum
  return (2 / SQRT_PI) * Math.exp(-square) * sum
}

/** Complementary error function, without cancellation for large x. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN
  if (x < 2) return 1 - erf(x)
  if (x > 27.3) return 0
  // continued fraction, evaluated from the tail
  let fraction = 0
  for (let n = Math.ceil(60 + 300 / x); n > 0; n--) fraction = n / 2 / (x + fraction)
  return (expOfMinusSquare(x) / SQRT_PI) * (1 / (x + fraction))
}

/** exp(-x²) with x² split so that its rounding error does not grow in the exponent. */
function expOfMinusSquare(x: number): number {
  const head = Math.fround(x)
  return Math.exp(-head * head) * Math.exp((head - x) * (head + x))
}

// Lanczos approximation with g = 607/128 and 15 terms (P. Godfrey)
const LANCZOS_G = 607 / 128
const LANCZOS = [
  0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174, -0.49191381609762019978,
  3.3994649984811888699e-5, 4.6523628927048575665e-5, -9.8374475304879564677e-5, 1.5808870322491248884e-4, -2.1026444172410488319e-4,
  2.1743961811521264320e-4, -1.6431810653676389022e-4, 8.4418223983852743293e-5, -2.6190838401581408670e-5, 3.6899182659531622704e-6,
] // prettier-ignore
const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI)

function lanczosSum(x: number): number {
  let sum = LANCZOS[0]!
  for (let i = 1; i < LANCZOS.length; i++) sum += LANCZOS[i]! / (x + i)
  return sum
}

/** Gamma function. NaN at negative integers, an infinity with the sign of x at zeros (C's tgamma). */
export function gamma(x: number): number {
  if (x === 0) return 1 / x
  if (x === Infinity) return Infinity
  if (Number.isNaN(x) || x === -Infinity || (x < 0 && Number.isInteger(x))) return NaN
  if (Number.isInteger(x) && x <= 171) {
    let product = 1
    for (let i = 2; i < x; i++) product *= i
    return product
  }
  if (x < 0.5) return Math.PI / (sinPi(x) * gamma(1 - x))
  if (x > 171.7) return Infinity
  const base = x - 1 + LANCZOS_G + 0.5
  const half = base ** ((x - 0.5) / 2) // in two halves: the power overflows before the product does
  return Math.sqrt(2 * Math.PI) * half * Math.exp(-base) * half * lanczosSum(x - 1)
}

/** Logarithm of the absolute value of the gamma function. */
export function logGamma(x: number): number {
  if (Number.isNaN(x)) return NaN
  if (!Number.isFinite(x) || (x <= 0 && Number.isInteger(x))) return Infinity
  if (x === 1 || x === 2) return 0
  if (Math.abs(x) < 1e-20) return -Math.log(Math.abs(x))
  if (x < 0.5) return Math.log(Math.PI / Math.abs(sinPi(x))) - logGamma(1 - x)
  if (x > 1e17) return x * (Math.log(x) - 1)
  const base = x - 1 + LANCZOS_G + 0.5
  return HALF_LOG_TWO_PI + (x - 0.5) * Math.log(base) - base + Math.log(lanczosSum(x - 1))
}

/** sin(pi x) with x reduced first, exact at integers. */
function sinPi(x: number): number {
  const rest = x - 2 * Math.round(x / 2)
  return Math.sin(Math.PI * (Math.abs(rest) > 0.5 ? copySign(1, rest) - rest : rest))
}
