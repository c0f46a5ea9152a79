import { PtliteError } from '../../../error.js'
import { type Int, toInt } from '../../../tensor/scalar.js'

const INT = /^[ \t\n\v\f\r]*([+-]?)(\d+)$/
/** Digits of an int of 64 bits. */
const MAX_DIGITS = 19
const DECIMAL = /^[ \t\n\v\f\r]*[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const HEXADECIMAL = /^[ \t\n\v\f\r]*([+-]?)0x([\da-f]*)(?:\.([\da-f]*))?(?:p([+-]?\d+))?$/i
const SPECIAL = /^[ \t\n\v\f\r]*([+-]?)(?:(inf(?:inity)?)|nan(?:\(\w*\))?)$/i

/** int(text) as C's stoll reads it: blanks in front are allowed. Throws MODEL_ERROR. */
export function parseInt64(text: string): Int {
  const match = INT.exec(text)
  if (match === null) throw new PtliteError('MODEL_ERROR', `ValueError: invalid literal for int() with base 10: '${text}'`)
  const digits = match[2]!.replace(/^0+/, '')
  const value = digits.length > MAX_DIGITS ? null : BigInt(digits) * (match[1] === '-' ? -1n : 1n)
  if (value === null || BigInt.asIntN(64, value) !== value)
    throw new PtliteError('MODEL_ERROR', `OverflowError: '${text}' does not fit 64 bits`)
  return toInt(value)
}

/** float(text) as C's stod reads it: blanks in front, infinities, NaNs and hexadecimal digits are allowed. Throws MODEL_ERROR. */
export function parseDouble(text: string): number {
  const special = SPECIAL.exec(text)
  if (special !== null) return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity
  const value = DECIMAL.test(text) ? Number(text) : parseHexadecimal(text)
  const isZero = !/[1-9]/.test(text.replace(/e.*/i, ''))
  if (!Number.isFinite(value) || (Math.abs(value) < 2 ** -1022 && !isZero && DECIMAL.test(text))) {
    throw new PtliteError('MODEL_ERROR', `OverflowError: '${text}' is out of the range of floats`)
  }
  return value
}

function parseHexadecimal(text: string): number {
  const match = HEXADECIMAL.exec(text)
  const whole = match?.[2] ?? ''
  const fraction = match?.[3] ?? ''
  if (match === null || whole + fraction === '') {
    throw new PtliteError('MODEL_ERROR', `ValueError: could not convert string to float: '${text}'`)
  }
  const digits = Number(BigInt(`0x${whole}${fraction}`))
  const value = digits * 2 ** (Number(match[4] ?? 0) - 4 * fraction.length)
  return match[1] === '-' ? -value : value
}
