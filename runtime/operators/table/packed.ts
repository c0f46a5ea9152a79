/* Readers of the text forms that codegen/emit/packed.ts writes: what a table of numbers would take several times the bytes for. */

const FIRST = 40
const LAST = 52
const HIGH = 93
const HIGHS = 34

/** The numbers of a packed text. */
export function unpackNumbers(text: string): number[] {
  const numbers: number[] = []
  let high = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= HIGH) high = high * HIGHS + code - HIGH + 1
    else {
      numbers.push(high * LAST + code - FIRST)
      high = 0
    }
  }
  return numbers
}
