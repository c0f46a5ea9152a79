/** Numbers as C++ streams write them. */

/** `%.{precision}g`: the shorter of fixed and scientific form, without trailing zeros. */
export function general(x: number, precision: number): string {
  if (!Number.isFinite(x)) return special(x)
  if (x === 0) return Object.is(x, -0) ? '-0' : '0'
  const [digits, exponent] = exponential(x, precision - 1)
  if (exponent < -4 || exponent >= precision) return `${stripZeros(digits)}e${exponentOf(exponent)}`
  return stripZeros(fixed(x, precision - 1 - exponent))
}

/** `%.{precision}e`. */
export function scientific(x: number, precision: number): string {
  if (!Number.isFinite(x)) return special(x)
  const [digits, exponent] = exponential(x, precision)
  return `${sign(x)}${digits.replace('-', '')}e${exponentOf(exponent)}`
}

/** `%.{precision}f`: exact digits, however large the number. */
export function fixed(x: number, precision: number): string {
  if (!Number.isFinite(x)) return special(x)
  const size = Math.abs(x)
  // toFixed is exact below 1e21; beyond that a double is an integer
  const text = size < 1e21 ? toFixed(size, Math.min(precision, 100)) : `${BigInt(size)}${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`
  return sign(x) + text
}

/** Digits from which on a double has no others, and the most that JavaScript gives. */
const ALL = 100

function toFixed(x: number, precision: number): string {
  return precision === ALL ? x.toFixed(ALL) : halfEven(x.toFixed(precision), x.toFixed(precision + 1), () => x.toFixed(ALL))
}

/** The digits of a number, one of them before the point, and its exponent. */
function exponential(x: number, precision: number): [digits: string, exponent: number] {
  const parts = (places: number): [string, string] => x.toExponential(places).split('e') as [string, string]
  const [rounded, exponent] = parts(precision)
  if (precision === ALL) return [rounded, Number(exponent)]
  return [halfEven(rounded, parts(precision + 1)[0], () => parts(ALL)[0]), Number(exponent)]
}

/** Numbers half-way between two texts go to the even digit, where JavaScript rounds them up. `longer` has one digit more, and `all` gives all that there are. */
function halfEven(rounded: string, longer: string, all: () => string): string {
  if (!longer.endsWith('5') || !/^0*$/.test(all().slice(longer.length))) return rounded
  const below = longer.slice(0, -1).replace(/\.$/, '')
  return Number(below.at(-1)) % 2 === 0 ? below : rounded
}

function special(x: number): string {
  return Number.isNaN(x) ? 'nan' : x < 0 ? '-inf' : 'inf'
}

function sign(x: number): string {
  return x < 0 || Object.is(x, -0) ? '-' : ''
}

function stripZeros(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

function exponentOf(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** A float as `str()` of TorchScript gives it: an integral one with a point behind (`2.`), else 17 digits. */
export function floatText(x: number): string {
  if (Number.isInteger(x) && x >= -(2 ** 63) && x < 2 ** 63) return `${BigInt(x)}.`
  return general(x, 17)
}
