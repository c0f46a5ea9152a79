import { PtliteError } from '../error.js'
import * as features from '../features.js'

/** An option that there is not, with the name that it is nearest to. */
export function unknownOption(name: string, known: readonly string[], where: string): PtliteError {
  if (!features.advice) return unknown(name, where, `it takes ${known.join(', ')}`)
  const ranked = known.map((other) => ({ other, distance: distanceOf(name.toLowerCase(), other.toLowerCase()) }))
  const { other, distance } = ranked.reduce((best, one) => (one.distance < best.distance ? one : best))
  const advice = distance <= Math.max(2, name.length / 3) ? `did you mean '${other}'?` : `it takes ${known.join(', ')}`
  return unknown(name, where, advice)
}

function unknown(name: string, where: string, advice: string): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `${where} takes no option '${name.slice(0, 40)}'; ${advice}`)
}

/** Letters to insert, take away or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) next.push(Math.min(row[j]! + (letter === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1))
    row = next
  }
  return row[b.length]!
}
