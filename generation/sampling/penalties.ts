/** Changes of logits by the tokens that there are already, before anything is drawn or the largest is taken. They change `logits`. */

/**
 * Makes every token of `tokens` less likely, once: logits above 0 are divided by `penalty`, others multiplied by it (Keskar et al., "CTRL", 2019; transformers'
 * RepetitionPenaltyLogitsProcessor). Below 1 it makes them likelier.
 */
export function penalizeRepetition(logits: Float32Array, tokens: Iterable<number>, penalty: number): void {
  for (const token of new Set(tokens)) {
    const logit = logits[token]
    if (logit !== undefined) logits[token] = logit < 0 ? logit * penalty : logit / penalty
  }
}

/**
 * Takes `frequency` times how often a token was generated, and `presence` once, from its logit: `frequency_penalty` and `presence_penalty` of
 * OpenAI's interface, which count what was generated and not the prompt.
 */
export function penalizeGenerated(logits: Float32Array, counts: ReadonlyMap<number, number>, frequency: number, presence: number): void {
  for (const [token, count] of counts) if (token < logits.length) logits[token]! -= frequency * count + presence
}
