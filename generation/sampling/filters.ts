/**
 * Filters of logits, which set those that shall not be drawn to -Infinity, in place: transformers' logits warpers, with their order of comparisons and what
 * they do with equal values. None takes the last token away.
 */

/** Leaves the `k` largest logits, and what is as large as the last of them (Fan et al., 2018; TopKLogitsWarper). */
export function keepTopK(logits: Float32Array, k: number): void {
  if (k >= logits.length) return
  const least = kthLargest(logits, k)
  for (let i = 0; i < logits.length; i++) if (logits[i]! < least) logits[i] = -Infinity
}

/** The k-th largest value, by a heap of `k` values whose smallest is on top. */
function kthLargest(values: Float32Array, k: number): number {
  const heap = values.slice(0, k).sort()
  for (let i = k; i < values.length; i++) {
    const value = values[i]!
    if (value <= heap[0]!) continue
    let at = 0
    for (let child = 1; child < k; child = 2 * at + 1) {
      if (child + 1 < k && heap[child + 1]! < heap[child]!) child++
      if (heap[child]! >= value) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = value
  }
  return heap[0]!
}

/** Leaves the likeliest tokens, as few as together have a probability of at least `p` (Holtzman et al., 2020; TopPLogitsWarper). */
export function keepTopP(logits: Float32Array, p: number): void {
  if (p >= 1) return
  const probabilities = softmax(logits)
  const order = indicesOf(logits).sort((a, b) => logits[b]! - logits[a]! || b - a)
  let sum = 0
  for (const [place, token] of order.entries()) {
    // what comes before it is enough
    if (place > 0 && sum >= p) logits[token] = -Infinity
    sum += probabilities[token]!
  }
}

/** Leaves tokens at least `p` times as likely as the likeliest one (Nguyen et al., 2024; MinPLogitsWarper). */
export function keepMinP(logits: Float32Array, p: number): void {
  const probabilities = softmax(logits)
  let top = 0
  for (let i = 0; i < probabilities.length; i++) if (probabilities[i]! > probabilities[top]!) top = i
  const least = p * probabilities[top]!
  for (let i = 0; i < logits.length; i++) if (i !== top && probabilities[i]! < least) logits[i] = -Infinity
}

/**
 * Leaves the tokens whose information (minus the logarithm of their probability) is nearest to the expected one, the entropy, as few as together have a probability of at
 * least `p` (Meister et al., "Locally typical sampling", 2023; TypicalLogitsWarper).
 */
export function keepTypical(logits: Float32Array, p: number): void {
  const probabilities = softmax(logits)
  let entropy = 0
  for (const q of probabilities) if (q > 0) entropy -= q * Math.log(q)
  const distance = probabilities.map((q) => (q > 0 ? Math.abs(-Math.log(q) - entropy) : Infinity))
  const order = indicesOf(logits).sort((a, b) => distance[a]! - distance[b]! || a - b)
  let sum = 0
  let last = 0
  while (last < order.length - 1 && (sum += probabilities[order[last]!]!) < p) last++
  const most = distance[order[last]!]!
  for (let i = 0; i < logits.length; i++) if (distance[i]! > most) logits[i] = -Infinity
}

/** Those of tokens that are not taken away yet: after a first filter there are few. */
function indicesOf(logits: Float32Array): number[] {
  const indices: number[] = []
  for (let i = 0; i < logits.length; i++) if (logits[i]! > -Infinity) indices.push(i)
  return indices
}

/** Probabilities (`torch.softmax`), in double precision. */
export function softmax(logits: Float32Array): Float64Array {
  let top = -Infinity
  for (let i = 0; i < logits.length; i++) if (logits[i]! > top) top = logits[i]!
  const probabilities = new Float64Array(logits.length)
  let sum = 0
  for (let i = 0; i < logits.length; i++) {
    // most are taken away already where a filter went before
    const x = logits[i]!
    if (x > -Infinity) sum += probabilities[i] = Math.exp(x - top)
  }
  for (let i = 0; i < logits.length; i++) probabilities[i]! /= sum
  return probabilities
}
