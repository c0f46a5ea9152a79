import type { NamedResult, SentArgument } from '../workers/messages.js'
import type { Traced } from '../tracing.js'
import type { ServedModel } from './served-model.js'

/** Priorities: 1 is served first. */
export const LEVELS = 10
export const USUAL_LEVEL = 5

export interface Sequence {
  readonly id: string
  readonly start: boolean
  readonly end: boolean
}

export type Settle = (error: Error | null, outputs: readonly NamedResult[]) => void

/** A request on its way through a queue and a worker. */
export interface Job {
  readonly model: ServedModel
  readonly args: readonly SentArgument[]
  /** Rows where it may be part of a batch; 1 elsewhere. */
  readonly rows: number
  /** Requests of one key may be in one batch; null: by itself. */
  readonly key: string | null
  readonly level: number
  /** Times of `performance.now()`. */
  readonly since: number
  readonly deadline: number
  readonly sequence: Sequence | null
  /** Once it has an answer, or nobody waits for one. */
  isSettled: boolean
  readonly settle: Settle
  timer: NodeJS.Timeout | null
  /** Its span, if there are any. */
  readonly traced: Traced | null
}
