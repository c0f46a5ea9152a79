import { roundHalfEven } from '../../../tensor/half.js'

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
