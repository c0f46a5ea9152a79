/** Priorities: 1 is served first. */
export const LEVELS = 10
export const USUAL_LEVEL = 5

/** What a queue has to know of a request. */
export interface Queued {
  /** Its priority. */
  readonly level: number
  /** Rows where it may be part of a batch; 1 elsewhere. */
  readonly rows: number
  /** Requests of one key may be in one batch; null: by itself. */
  readonly key: string | null
  /** Once it has an answer, or nobody waits for one. */
  isSettled: boolean
}

/** Requests that wait, by priority and then by when they came. Those that were settled meanwhile are left out. */
export class Queue<Job extends Queued> {
  private readonly levels: Job[][] = Array.from({ length: LEVELS }, () => [])
  /** Jobs that still wait for an answer. */
  private waiting = 0

  get length(): number {
    return this.waiting
  }

  push(job: Job): void {
    this.levels[job.level - 1]!.push(job)
    this.waiting++
  }

  /** A job of the queue was settled: it is no longer counted, and leaves when its turn comes. */
  forget(): void {
    this.waiting--
  }

  /** The job whose turn is next. */
  head(): Job | null {
    if (this.waiting === 0) {
      for (const level of this.levels) level.length = 0
      return null
    }
    for (const level of this.levels) {
      while (level.length > 0 && level[0]!.isSettled) level.shift()
      if (level.length > 0) return level[0]!
    }
    return null
  }

  /** Takes the next jobs of one key out, with at most `rows` rows. Of others, or of a job by itself, the next alone. */
  take(rows: number): Job[] {
    const first = this.head()
    if (first === null) return []
    const taken: Job[] = []
    let sum = 0
    for (const level of this.levels) {
      let kept = 0
      let i = 0
      for (; i < level.length; i++) {
        const job = level[i]!
        if (job.isSettled) continue
        const isFirst = job === first
        if (isFirst || (first.key !== null && job.key === first.key && sum + job.rows <= rows)) {
          taken.push(job)
          sum += job.rows
          // nothing else fits
          if (first.key === null || sum >= rows) {
            i++
            break
          }
        } else level[kept++] = job
      }
      if (kept !== i) {
        level.copyWithin(kept, i)
        level.length -= i - kept
      }
      if (taken.length > 0 && (first.key === null || sum >= rows)) break
    }
    this.waiting -= taken.length
    return taken
  }

  /** Rows of the jobs that could be in one batch with the next, up to `most`. */
  rowsOfHead(most: number): number {
    const first = this.head()
    if (first === null || first.key === null) return first?.rows ?? 0
    let sum = 0
    for (const level of this.levels)
      for (const job of level) {
        if (job.isSettled || job.key !== first.key) continue
        sum += job.rows
        if (sum >= most) return sum
      }
    return sum
  }

  /** Takes all jobs out. */
  clear(): Job[] {
    const jobs = this.levels.flatMap((level) => level.filter(({ isSettled }) => !isSettled))
    for (const level of this.levels) level.length = 0
    this.waiting = 0
    return jobs
  }
}
