import { throwIfAborted } from '../runtime/aborted.js'
import { yieldToEventLoop } from '../runtime/event-loop.js'
import type { Steps } from './steps/steps.js'

/** The most tokens in one call, where nothing is said. */
const CHUNK = 512

export interface SeeOptions {
  /** Of how many of the last tokens logits are given, which is no more than a call takes: 1. */
  readonly rows?: number
  /** Tokens in a call, at most: 512. */
  readonly chunk?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** A model with the tokens that it has seen: of those that begin alike only the rest is computed. */
export class Context {
  /** `seen` is what the steps have seen, and is kept so. */
  constructor(
    readonly steps: Steps,
    readonly seen: number[] = [],
  ) {}

  /** Goes back to where what it has seen differs from `tokens`, or behind the first `most` of them. `seen` may be shorter, where the model keeps less. */
  goBack(tokens: readonly number[], most = tokens.length): void {
    const { seen, steps } = this
    const end = Math.min(seen.length, tokens.length, most)
    let common = 0
    while (common < end && seen[common] === tokens[common]) common++
    if (common === seen.length) return
    steps.rewind(common)
    seen.length = steps.length
  }

  /** Sees `tokens`, which are all that it is to have seen. Gives the logits behind the last `rows` of them, each float32[vocabulary], which hold until the next call. */
  async see(tokens: readonly number[], options: SeeOptions = {}): Promise<readonly Float32Array[]> {
    const { seen, steps } = this
    const { rows = 1, chunk = CHUNK, signal } = options
    this.goBack(tokens, tokens.length - rows)
    const width = steps.keeps ? Math.max(rows, Math.min(chunk, steps.chunk)) : tokens.length
    for (;;) {
      throwIfAborted(signal)
      const left = tokens.length - seen.length
      const size = steps.sizes?.next(left, width, rows) ?? (left <= width ? left : Math.min(width, left - rows))
      const part = tokens.slice(seen.length, seen.length + size)
      const logits = await steps.advance(part, size === left ? rows : 1, signal)
      seen.push(...part)
      // a thread that answers faster than its messages are read would keep the event loop at reading them
      await yieldToEventLoop()
      if (size === left) return logits
    }
  }
}
