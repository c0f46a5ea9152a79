/** One operator call, in microseconds of `performance.now()` times 1000. */
export interface ProfileEvent {
  readonly name: string
  readonly start: number
  readonly duration: number
}

/** Collects operator calls of a run. */
export class Profiler {
  readonly events: ProfileEvent[] = []

  now(): number {
    return performance.now() * 1000
  }

  record(name: string, start: number): void {
    this.events.push({ name, start, duration: this.now() - start })
  }

  /** The events in Chrome's trace format (chrome://tracing, Perfetto). */
  toChromeTrace(): string {
    const traceEvents = this.events.map((e) => ({
      name: e.name,
      cat: 'operator',
      ph: 'X',
      ts: e.start,
      dur: e.duration,
      pid: process.pid,
      tid: 0,
    }))
    return JSON.stringify({ traceEvents, displayTimeUnit: 'ms' })
  }
}
