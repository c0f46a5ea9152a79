import { copySign } from './real.js'

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
