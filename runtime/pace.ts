import { milliseconds } from './platform.js'
import { type Limited, limitError } from './limits.js'

/*
 * Work in JavaScript that no kernel and no instruction bounds (walks over lists, comparisons, reading of files) says how many steps it takes, so that the clock is
 * looked at every now and then: a limit of time holds in the middle of it.
 */

/** Steps, of some nanoseconds each, between two looks at the clock. */
const STEPS = 1 << 16

/** Throws where the work has to end. */
type Look = () => void

let left = STEPS
let look: Look | null = null

/** So many steps are about to be taken. Throws LIMIT_EXCEEDED or ABORTED where there is no time for them. */
export function pace(steps = 1): void {
  if (!((left -= steps) >= 0)) lookNow()
}

function lookNow(): void {
  left = STEPS
  look?.()
}

/** What looks at the clock from now on; null for work that has to come to its end. Returns the one before, to be put back. */
export function enterPace(next: Look | null): Look | null {
  const before = look
  look = next
  return before
}

/** Time for work that is done in parts, with other work between them, such as reading a file step by step. */
export class TimeLimit {
  private used = 0
  /** When the time is over, while a part of the work is under way. */
  private end: number | null = null

  constructor(
    readonly who: Limited,
    private readonly limit: number,
  ) {}

  get left(): number {
    return this.end === null ? this.limit - this.used : this.end - milliseconds()
  }

  /** Carries out a part of the work. Throws LIMIT_EXCEEDED where there is no time left. */
  within<T>(run: () => T): T {
    if (this.limit === Infinity) return run()
    const begin = milliseconds()
    const end = begin + this.limit - this.used
    this.end = end
    let isOver = false
    const outer: Look | null = enterPace(() => {
      outer?.()
      // what cleans up behind the error is not ended again
      if (isOver || milliseconds() <= end) return
      isOver = true
      throw limitError(this.who, 'milliseconds', this.limit)
    })
    try {
      const result = run()
      // what ends late without a look
      lookNow()
      return result
    } finally {
      enterPace(outer)
      this.end = null
      this.used += milliseconds() - begin
    }
  }
}
