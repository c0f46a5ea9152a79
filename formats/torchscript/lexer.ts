import { strictTextOf, utf8 } from '../../runtime/encoding.js'
import { pace } from '../../runtime/pace.js'
import { Complex, Float, toInt } from '../../runtime/tensor/scalar.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { SourceFile } from './source.js'

/*
 * Splits source code into tokens, in one pass over its characters. What a token is its kind says: an operator or keyword is its own text,
 * everything else one of the kinds in capitals.
 */

export const NAME = 'NAME'
export const NUMBER = 'NUMBER'
export const STRING = 'STRING'
export const NEWLINE = 'NEWLINE'
export const INDENT = 'INDENT'
export const DEDENT = 'DEDENT'
export const END = 'END'

/** Tokens as parallel arrays. */
export interface Tokens {
  readonly kinds: readonly string[]
  /** Places of the first character, and of the one behind the last. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Of each INDENT, the number of the DEDENT that closes it; 0 for other tokens. */
  readonly closes: Int32Array
}

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or ' +
    'pass raise return try while with yield None True False'
  ).split(' '),
)

/** Operators of three characters, two and one; the longest that fits is meant. */
const LONG_OPERATORS: ReadonlySet<string> = new Set(
  '**= //= <<= >>= ... == != <= >= -> ** // << >> += -= *= /= %= &= |= ^= @= :='.split(' '),
)
const OPERATORS = '()[]{}:,.;@=+-*/%<>&|^~!'

/** Tokens of one file: some thirty megabytes of code. */
const MAX_TOKENS = 1 << 23
/** Blocks in blocks. */
const MAX_INDENTS = 256

const NEWLINE_CODE = 10
const SPACE = 32
const TAB = 9
const RETURN = 13
const HASH = 35
const BACKSLASH = 92

/** 1 for characters that names begin with, 2 for digits. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = (code | 32) >= 97 && (code | 32) <= 122
  return letter || code === 95 ? 1 : code >= 48 && code <= 57 ? 2 : 0
})

function classOf(code: number): number {
  return code < 128 ? CLASSES[code]! : 1
}

/** Throws INVALID_FILE for characters that no token begins with, and for blocks that are not indented as others. */
export function tokenize(source: SourceFile): Tokens {
  const { text } = source
  const kinds: string[] = []
  let starts = new Int32Array(1024)
  let ends = new Int32Array(1024)
  let closes = new Int32Array(1024)
  /** Columns of the blocks that are open, and the numbers of their INDENT tokens. */
  const columns = [0]
  const opened: number[] = []
  let depth = 0
  let at = 0

  const push = (kind: string, start: number, end: number): void => {
    pace(4)
    const count = kinds.push(kind)
    if (count > MAX_TOKENS) throw source.wrong(start, `code of more than ${MAX_TOKENS} words and signs`)
    if (count > starts.length)
      [starts, ends, closes] = [starts, ends, closes].map(twiceAsLong) as [typeof starts, typeof starts, typeof starts]
    starts[count - 1] = start
    ends[count - 1] = end
  }

  /** At the beginning of a line with code in it: blocks that begin or end there. */
  const indentTo = (column: number): void => {
    if (column > columns.at(-1)!) {
      if (columns.length > MAX_INDENTS) throw source.wrong(at, `blocks are nested more than ${MAX_INDENTS} deep`)
      columns.push(column)
      opened.push(kinds.length)
      push(INDENT, at, at)
    }
    while (column < columns.at(-1)!) {
      columns.pop()
      closes[opened.pop()!] = kinds.length
      push(DEDENT, at, at)
    }
    if (column !== columns.at(-1)!) throw source.wrong(at, 'the line is not indented as any block around it')
  }

  let atLineStart = true
  while (at < text.length) {
    if (atLineStart && depth === 0) {
      let column = 0
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (code === SPACE) column++
        else if (code === TAB) column += 8 - (column % 8)
        else break
      }
      if (at >= text.length) break
      const code = text.charCodeAt(at)
      // lines without code say nothing of blocks
      if (code !== NEWLINE_CODE && code !== HASH && code !== RETURN) {
        indentTo(column)
        atLineStart = false
      }
    }
    const code = text.charCodeAt(at)
    if (code === SPACE || code === TAB || code === RETURN) at++
    else if (code === NEWLINE_CODE) {
      if (depth === 0 && !atLineStart) push(NEWLINE, at, at)
      atLineStart = depth === 0
      at++
    } else if (code === HASH) {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
    } else if (code === BACKSLASH && text.charCodeAt(at + 1) === NEWLINE_CODE) at += 2
    else {
      const start = at
      const kind = classOf(code)
      if (kind === 1) {
        at++
        while (at < text.length && classOf(text.charCodeAt(at)) !== 0) at++
        const word = text.slice(start, at)
        push(KEYWORDS.has(word) ? word : NAME, start, at)
      } else if (kind === 2 || (code === 46 && classOf(text.charCodeAt(at + 1)) === 2)) {
        at = endOfNumber(text, at)
        push(NUMBER, start, at)
      } else if (code === 34 || code === 39) {
        at = endOfString(source, at)
        push(STRING, start, at)
      } else {
        const operator = operatorAt(text, at)
        if (operator === '') throw source.wrong(at, `unexpected character '${text[at]!}'`)
        at += operator.length
        if (operator === '(' || operator === '[' || operator === '{') depth++
        if (operator === ')' || operator === ']' || operator === '}') depth = Math.max(0, depth - 1)
        push(operator, start, at)
      }
    }
  }
  if (!atLineStart) push(NEWLINE, at, at)
  indentTo(0)
  push(END, at, at)
  return { kinds, starts, ends, closes }
}

function twiceAsLong(numbers: Int32Array): Int32Array {
  const longer = new Int32Array(2 * numbers.length)
  longer.set(numbers)
  return longer
}

function operatorAt(text: string, at: number): string {
  for (let length = 3; length > 1; length--) {
    const long = text.slice(at, at + length)
    if (LONG_OPERATORS.has(long)) return long
  }
  const short = text[at]!
  return OPERATORS.includes(short) ? short : ''
}

/** Digits, a fraction, an exponent with a sign; letters behind it belong to it, and are refused where it is read. */
function endOfNumber(text: string, start: number): number {
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 46) continue
    const sign = code === 43 || code === 45
    const afterExponent = sign && (text.charCodeAt(at - 1) | 32) === 101 && (text.charCodeAt(start + 1) | 32) !== 120
    if (!afterExponent && (sign || classOf(code) === 0)) break
  }
  return at
}

function endOfString(source: SourceFile, start: number): number {
  const { text } = source
  const quote = text.charCodeAt(start)
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (code === BACKSLASH) at++
    else if (code === NEWLINE_CODE) break
  }
  throw source.wrong(start, 'a text without an end')
}

const INTEGER = /^(\d{1,30}|0[xX][0-9a-fA-F]{1,16})$/
const FLOATING = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
/** Digits of a number: no writer gives more. */
const MAX_DIGITS = 400

/** The value of a NUMBER token. A minus sign before it is `negative`, so that the lowest int can be read. */
export function numberValue(source: SourceFile, start: number, end: number, negative: boolean): Value {
  const text = source.text.slice(start, end)
  if (text.length > MAX_DIGITS) throw source.wrong(start, 'a number of too many digits')
  if (INTEGER.test(text)) {
    const value = negative ? -BigInt(text) : BigInt(text)
    if (BigInt.asIntN(64, value) !== value) throw source.wrong(start, `the int ${text} has more than 64 bits`)
    return toInt(value)
  }
  const sign = negative ? -1 : 1
  if (FLOATING.test(text)) return new Float(sign * Number(text))
  if (/[jJ]$/.test(text) && FLOATING.test(text.slice(0, -1))) return new Complex(0, sign * Number(text.slice(0, -1)))
  throw source.wrong(start, `'${text.slice(0, 40)}' is not a number`)
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92, "'": 39, '"': 34 }

/** The value of a STRING token. Escapes stand for bytes of UTF-8, which is how PyTorch writes texts that are not ASCII. */
export function stringValue(source: SourceFile, start: number, end: number): string {
  const text = source.text.slice(start + 1, end - 1)
  if (!text.includes('\\')) return text
  // what escapes stand for is shorter than they are
  const bytes = utf8(text)
  pace(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at++]!
    if (byte !== BACKSLASH) {
      bytes[length++] = byte
      continue
    }
    const next = String.fromCharCode(bytes[at]!)
    const escaped = ESCAPES[next]
    if (escaped !== undefined) {
      bytes[length++] = escaped
      at++
    } else if (next === '\n') at++
    else {
      const digits = next === 'x' ? digitsAt(bytes, at + 1, 2, 16) : digitsAt(bytes, at, 3, 8)
      if (digits === '') throw source.wrong(start, `unknown escape \\${next}`)
      bytes[length++] = Number.parseInt(digits, next === 'x' ? 16 : 8) & 255
      at += (next === 'x' ? 1 : 0) + digits.length
    }
  }
  const value = strictTextOf(bytes.subarray(0, length))
  if (value === undefined) throw source.wrong(start, 'a text that is not UTF-8')
  return value
}

function digitsAt(bytes: Uint8Array, at: number, most: number, base: number): string {
  let digits = ''
  while (digits.length < most && at < bytes.length) {
    const digit = String.fromCharCode(bytes[at++]!)
    if (Number.isNaN(Number.parseInt(digit, base))) break
    digits += digit
  }
  return digits
}
