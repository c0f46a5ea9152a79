import { check } from '../../runtime/error.js'

/** Logarithms of probabilities, a row for each frame. */
export interface Frames {
  readonly count: number
  /** Tokens. */
  readonly width: number
  readonly values: Float32Array
}

/** From the first to behind the last of its frames. */
export interface CtcSpan {
  readonly token: number
  readonly start: number
  readonly end: number
}

/** torch.log_softmax of each row. */
export function normalized(logits: Float32Array, width: number): Float32Array {
  const found = new Float32Array(logits.length)
  for (let at = 0; at < logits.length; at += width) {
    let top = -Infinity
    for (let i = 0; i < width; i++) top = Math.max(top, logits[at + i]!)
    let sum = 0
    for (let i = 0; i < width; i++) sum += Math.exp(logits[at + i]! - top)
    const all = top + Math.log(sum)
    check(!Number.isNaN(all), () => 'ctcDecode(): there are logits that are no numbers')
    for (let i = 0; i < width; i++) found[at + i] = logits[at + i]! - all
  }
  return found
}
