import type { BundleSource } from './source.js'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * Characters that each source file takes up in a minified bundle, by the source map that leads from it to the bundle before
 * (https://tc39.es/ecma426/, base64 VLQ).
 */
export function sharesOf(minified: string, mappings: string, source: BundleSource): Map<string, number> {
  const starts = source.tree.getLineStarts()
  const lines = minified.split('\n')
  const shares = new Map<string, number>()
  let line = 0
  mappings.split(';').forEach((group, row) => {
    let column = 0
    let file = ''
    let start = 0
    const end = (at: number): void => {
      if (file !== '' && at > start) shares.set(file, (shares.get(file) ?? 0) + at - start)
      start = at
    }
    for (const segment of group === '' ? [] : group.split(',')) {
      const fields = numbersIn(segment)
      column += fields[0]!
      end(column)
      line += fields[2] ?? 0
      if (fields.length >= 4) file = source.fileAt(starts[line] ?? 0)
    }
    end(lines[row]?.length ?? 0)
  })
  return shares
}

function numbersIn(segment: string): number[] {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit)
    value |= (bits & 31) << shift
    shift += 5
    if ((bits & 32) !== 0) continue
    numbers.push((value & 1) !== 0 ? -(value >> 1) : value >> 1)
    ;[value, shift] = [0, 0]
  }
  return numbers
}
