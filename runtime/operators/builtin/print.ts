import * as platform from '../../platform.js'
import { Float } from '../../tensor/scalar.js'
import { Tuple, type Value } from '../../tensor/value.js'
import { byteLength, decodeBytes } from './support/bytes.js'
import { intFromDouble, wrapInt32 } from './support/integer.js'
import { fixed, scientific } from '../../tensor/number-text.js'
import { joinTexts, valueText } from './support/value-text.js'
import { fail } from './format.js'

/** Python's `%` on strings, with the specifiers d i e E f F c s and %%, without widths. Throws MODEL_ERROR. */
export function percent_format(self: string, rest: Value[]): string {
  const [last = null] = rest
  const args = last instanceof Tuple ? last.items : [last]
  let used = 0
  const parts: string[] = []
  for (let at = 0; at < self.length;) {
    const percent = self.indexOf('%', at)
    parts.push(self.slice(at, percent < 0 ? undefined : percent))
    if (percent < 0) break
    const key = self[percent + 1]
    if (key === undefined) fail('ValueError: incomplete format specifier')
    at = percent + 2
    if (key === '%') {
      parts.push('%')
      continue
    }
    if (used >= args.length) fail('TypeError: too few arguments for format string')
    parts.push(formatted(key, args[used++]!))
  }
  if (used !== args.length) fail('TypeError: too many arguments for format string')
  return joinTexts(parts)
}

function formatted(key: string, value: Value): string {
  switch (key) {
    case 'd':
    case 'i':
      // a float goes through a C int
      return value instanceof Float ? String(intThroughInt32(value.value)) : String(numberFor(key, value))
    case 'e':
      return scientific(Math.fround(Number(numberFor(key, value))), 6)
    case 'E':
      return scientific(Math.fround(Number(numberFor(key, value))), 6).toUpperCase()
    case 'f':
    case 'F':
      return fixed(Math.fround(Number(numberFor(key, value))), 6)
    case 'c':
      if (typeof value === 'number' || typeof value === 'bigint')
        return decodeBytes(String.fromCharCode(Number(BigInt.asUintN(8, BigInt(value)))))
      if (typeof value === 'string' && byteLength(value) === 1) return value
      return fail('TypeError: %c requires an int or a string of one byte')
    case 's':
      return valueText(value)
    default:
      return fail(`ValueError: the specifier %${key} is not supported in TorchScript format strings`)
  }
}

function intThroughInt32(value: number): number {
  const whole = intFromDouble(value)
  return whole >= -(2 ** 31) && whole < 2 ** 31 ? wrapInt32(whole) : -(2 ** 31)
}

function numberFor(key: string, value: Value): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Float) return value.value
  return fail(`TypeError: %${key} requires a number`)
}

/** Writes the values to the standard output, separated by spaces. */
export function print(rest: Value[]): void {
  platform.print(`${joinTexts(rest.flatMap((value, i) => (i === 0 ? [valueText(value)] : [' ', valueText(value)])))}\n`)
}

export function print_text(s: string): void {
  print([s])
}
