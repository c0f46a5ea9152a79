/** Numbers as C++ streams write them. */

/** `%.{precision}g`: the shorter of fixed and scientific form, without trailing zeros. */
export function general(x: number, precision: number): string {
  if (!Number.isFinite(x)) return special(x)
  if (x === 0) return Object.is(x, -0) ? '-0' : '0'
  const [digits, exponentText] = x.toExponential(precision - 1).split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= precision) return `${stripZeros(digits)}e${exponentOf(exponent)}`
  return stripZeros(fixed(x, precision - 1 - exponent))
}

/** `%.{precision}e`. */
export function scientific(x: number, precision: number): string {
  if (!Number.isFinite(x)) return special(x)
  const [digits, exponent] = x.toExponential(precision).split('e') as [string, string]
  return `${sign(x)}${digits.replace('-', '')}e${exponentOf(Number(exponent))}`
}

/** `%.{precision}f`: exact digits, however large the number. */
export function fixed(x: number, precision: number): string {
  if (!Number.isFinite(x)) return special(x)
  const size = Math.abs(x)
  // toFixed is exact below 1e21; beyond that a double is an integer
  const text = size < 1e21 ? size.toFixed(Math.min(precision, 100)) : `${BigInt(size)}${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`
  return sign(x) + text
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
