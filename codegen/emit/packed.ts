/*
 * The text forms of generated data; runtime/operators/packed.ts reads them. Only printable characters that a string
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

/**
 * Names in ascending order, each without what it shares with the one before it: a character says how many characters of
 * the end of the name before go away, the last such character stands for all of them.
 */
export function packNames(names: readonly string[]): string {
  let before = ''
  const parts = names.map((name) => {
    let shared = 0
    while (shared < before.length && before[shared] === name[shared]) shared++
    const dropped = Math.min(before.length - shared, LAST - 1)
    const kept = dropped === LAST - 1 ? 0 : shared
    before = name
    return packNumber(dropped) + name.slice(kept)
  })
  return parts.join(' ')
}

/** A string literal of packed text. */
export function packedLiteral(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
