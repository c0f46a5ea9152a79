import { LogitsBuffer } from '../results.js'
import type { Caller } from './caller.js'
import type { Steps } from './steps.js'

/** Of a model that keeps nothing: each call has all tokens from the first one on, filled up where the program has a fixed number of them. */
export class WholeSteps implements Steps {
  readonly keeps = false
  readonly capacity: number
  private readonly logits = new LogitsBuffer()

  constructor(
    private readonly caller: Caller,
    private tokens: readonly number[] = [],
  ) {
    this.capacity = caller.width ?? caller.most
  }

  get length(): number {
    return this.tokens.length
  }

  get chunk(): number {
    return this.capacity
  }

  async advance(tokens: readonly number[], rows: number, signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    const all = [...this.tokens, ...tokens]
    const { logits } = await this.caller.call(all, 0, [], rows, signal)
    this.tokens = all
    const found = this.logits.rowsOf(logits, all.length, rows)
    logits.dispose()
    return found
  }

  rewind(length: number): void {
    this.tokens = this.tokens.slice(0, length)
  }

  fork(): Promise<Steps> {
    return Promise.resolve(new WholeSteps(this.caller, this.tokens))
  }

  dispose(): void {
    this.tokens = []
  }
}
