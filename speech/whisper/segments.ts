/** Seconds from one time token to the next. */
export const TIME_STEP = 0.02
/** Frames of features in that. */
const FRAMES_PER_STEP = 2
const FRAME = 0.01

/** A part of a window's tokens, and its times in seconds from the beginning of the recording. */
export interface TokenSegment {
  readonly start: number
  readonly end: number
  readonly tokens: readonly number[]
  /** Where it begins among the window's tokens. */
  readonly from: number
}

/** Segments of the tokens of a window, and the frames behind which the next window begins. */
export interface CutWindow {
  readonly segments: readonly TokenSegment[]
  readonly frames: number
}

/**
 * Cuts a window's tokens where two times stand together, as transformers' `_retrieve_segment` does. What stands behind the last pair is not finished: the next window begins there. `seek` and
 * `frames`: where the window begins, and how long it is.
 */
export function segmentsOf(tokens: readonly number[], firstTime: number, seek: number, frames: number): CutWindow {
  const isTime = tokens.map((token) => token >= firstTime)
  const offset = (seek * TIME_STEP) / FRAMES_PER_STEP
  const timeOf = (place: number): number => offset + (tokens[place]! - firstTime) * TIME_STEP
  const cuts = tokens.flatMap((_, i) => (i > 0 && isTime[i] && isTime[i - 1] ? [i] : []))
  const endsSingle = isTime.at(-1) === true && isTime.at(-2) === false
  if (cuts.length === 0) {
    const last = tokens.findLast((token) => token >= firstTime)
    const steps = last !== undefined && last !== firstTime ? last - firstTime : Math.floor((frames * FRAME) / TIME_STEP + 1e-9)
    return { segments: [{ start: offset, end: offset + steps * TIME_STEP, tokens, from: 0 }], frames }
  }
  // a pair at the end belongs to the last segment
  if (endsSingle) cuts.push(tokens.length)
  else cuts[cuts.length - 1]!++
  const segments = cuts.map((cut, i): TokenSegment => {
    const from = cuts[i - 1] ?? 0
    const last = i < cuts.length - 1 || endsSingle ? cut - 1 : cut - 2
    return { start: timeOf(from), end: timeOf(last), tokens: tokens.slice(from, cut), from }
  })
  if (endsSingle) return { segments, frames }
  const next = (tokens[cuts.at(-1)! - 2]! - firstTime) * FRAMES_PER_STEP
  return { segments, frames: next > 0 && next <= frames ? next : frames }
}
