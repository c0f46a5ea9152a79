/*
 * The text forms of generated data; runtime/operators/table/packed.ts reads them. Only printable characters that a string
 * literal holds unescaped are used.
 */

/** A number below LAST is one character from FIRST on; larger ones have characters after LAST in front. */
const FIRST = 40
const LAST = 52
const HIGH = 93
const HIGHS = 34

/** The characters of one number, which must be a natural one. */
export function packNumber(value: number): string {
  let text = String.fromCharCode(FIRST + (value % LAST))
  for (let rest = Math.floor(value / LAST); rest > 0; rest = Math.floor((rest - 1) / HIGHS)) {
    text = String.fromCharCode(HIGH + ((rest - 1) % HIGHS)) + text
  }
  return text
}

export function packNumbers(values: readonly number[]): string {
  return values.map(packNumber).join('')
}

/** A string literal of packed text. */
export function packedLiteral(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
