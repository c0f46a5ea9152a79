/** How often, and how long in all. */
export interface Duration {
  count: number
  ns: number
}

export interface BatchStatistics {
  readonly compute_input: Duration
  readonly compute_infer: Duration
  readonly compute_output: Duration
}

/** What the statistics extension tells of a version of a model. */
export class Statistics {
  /** Milliseconds since the epoch. */
  lastInference = 0
  inferenceCount = 0
  executionCount = 0
  readonly success = zero()
  readonly fail = zero()
  readonly queue = zero()
  readonly computeInput = zero()
  readonly computeInfer = zero()
  readonly computeOutput = zero()
  readonly batches = new Map<number, BatchStatistics>()

  batch(rows: number): BatchStatistics {
    let found = this.batches.get(rows)
    if (found === undefined) this.batches.set(rows, (found = { compute_input: zero(), compute_infer: zero(), compute_output: zero() }))
    return found
  }
}

function zero(): Duration {
  return { count: 0, ns: 0 }
}

export function add(duration: Duration, ns: number): void {
  duration.count++
  duration.ns += ns
}
