import type { PlannedSizes } from './planned-sizes.js'

/** The tokens that a model has seen, and what it keeps of them: what comes next is asked of it. */
export interface Steps {
  /** Tokens that it has seen. */
  readonly length: number
  /** The most that it can. */
  readonly capacity: number
  /** The most that it takes in one call. */
  readonly chunk: number
  /** How many tokens calls may have, of a model that was compiled ahead. */
  readonly sizes?: PlannedSizes | null
  /** Whether a call has the new tokens alone. One that keeps nothing has all of them in each, so that a prompt in parts is more work. */
  readonly keeps: boolean
  /**
   * Sees further tokens, `chunk` at most. Gives the logits behind the last `rows` of them, each float32[vocabulary], which hold until the next call. Where a call throws it has
   * seen no more than before.
   */
  advance(tokens: readonly number[], rows: number, signal: AbortSignal | undefined): Promise<readonly Float32Array[]>
  /** Forgets all but the first `length` tokens, or less where it cannot: `length` says how many are left. */
  rewind(length: number): void
  /** Another one that has seen the same. */
  fork(): Promise<Steps>
  dispose(): void
}
