import type { CtcSpan, Frames } from './frames.js'

/** The frames of each token on the likeliest way to say these tokens (Viterbi, as torchaudio's `forced_align`). */
export function spansOf({ count: frames, width, values }: Frames, tokens: readonly number[], blank: number): CtcSpan[] {
  // blanks stand between, before and behind tokens
  const states = 2 * tokens.length + 1
  const tokenOf = (state: number): number => (state % 2 === 0 ? blank : tokens[(state - 1) / 2]!)
  let best = new Float64Array(states).fill(-Infinity)
  const back = Array.from({ length: frames }, () => new Uint8Array(states))
  for (let frame = 0; frame < frames; frame++) {
    const next = new Float64Array(states).fill(-Infinity)
    for (let s = 0; s < states; s++) {
      const maySkip = s > 1 && s % 2 === 1 && tokenOf(s) !== tokenOf(s - 2)
      let from = frame === 0 ? (s < 2 ? 0 : -Infinity) : best[s]!
      if (frame > 0)
        for (const step of maySkip ? [1, 2] : [1])
          if (s >= step && best[s - step]! > from) {
            from = best[s - step]!
            back[frame]![s] = step
          }
      next[s] = from + values[frame * width + tokenOf(s)]!
    }
    best = next
  }
  let state = states > 1 && best[states - 2]! > best[states - 1]! ? states - 2 : states - 1
  const spans: CtcSpan[] = tokens.map((token) => ({ token, start: frames, end: 0 }))
  for (let frame = frames - 1; frame >= 0; frame--) {
    if (state % 2 === 1) {
      const span = spans[(state - 1) / 2]!
      spans[(state - 1) / 2] = { token: span.token, start: frame, end: Math.max(span.end, frame + 1) }
    }
    state -= back[frame]![state]!
  }
  return spans
}
