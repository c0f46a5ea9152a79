import type { SpecialTokens } from './special-tokens.js'

/**
 * Takes away what may not come next, in place: suppressed tokens and, with `hasTimes`, what breaks the order of times (transformers' WhisperTimeStampLogitsProcessor). Times come in pairs, but
 * before the end; none is before another; and where all times together are likelier than any other token one of them comes.
 */
export function applyRules(logits: Float32Array, generated: readonly number[], special: SpecialTokens, hasTimes: boolean): void {
  for (const token of special.suppressed) remove(logits, token, token + 1)
  if (generated.length === 0) for (const token of special.suppressedFirst) remove(logits, token, token + 1)
  if (!hasTimes) return
  const { noTimestamps, firstTime, end, latestFirst } = special
  remove(logits, noTimestamps, noTimestamps + 1)
  const isTime = (token: number | undefined): boolean => token !== undefined && token >= firstTime
  const afterTime = isTime(generated.at(-1))
  const afterPair = afterTime && (generated.length < 2 || isTime(generated.at(-2)))
  if (afterPair) remove(logits, firstTime, logits.length)
  else if (afterTime) remove(logits, 0, end)
  const last = generated.findLast(isTime)
  // a segment may begin where the one before ended, and does not end where it began
  if (last !== undefined) remove(logits, firstTime, afterTime && !afterPair ? last : last + 1)
  if (generated.length === 0) {
    remove(logits, 0, firstTime)
    remove(logits, firstTime + latestFirst + 1, logits.length)
  }
  if (timesAreLikelier(logits, firstTime)) remove(logits, 0, firstTime)
}

function remove(logits: Float32Array, from: number, to: number): void {
  logits.fill(-Infinity, Math.min(from, logits.length), Math.min(to, logits.length))
}

function timesAreLikelier(logits: Float32Array, firstTime: number): boolean {
  let text = -Infinity
  for (let i = 0; i < firstTime && i < logits.length; i++) if (logits[i]! > text) text = logits[i]!
  let top = -Infinity
  for (let i = firstTime; i < logits.length; i++) if (logits[i]! > top) top = logits[i]!
  if (top === -Infinity) return false
  let sum = 0
  for (let i = firstTime; i < logits.length; i++) sum += Math.exp(logits[i]! - top)
  return top + Math.log(sum) > text
}
