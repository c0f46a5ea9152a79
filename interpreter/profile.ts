import { pid } from '../runtime/platform.js'
import { boolean, checkOptions, reading } from '../runtime/tensor/check-arguments.js'

/** One operator or kernel call, in microseconds of `performance.now()` times 1000. */
export interface ProfileEvent {
  readonly name: string
  readonly start: number
  readonly duration: number
  /** Of kernels: operations, 0 where they are not counted, and bytes of the memory that the call reaches. */
  readonly work?: { readonly flops: number; readonly bytes: number }
  /** Of kernels: the operator of the compiled graph that it belongs to, as `Module.explain` shows it; missing in plans of a file. */
  readonly label?: string
  /** Of operators: the instruction that called it, as graphs name it (`GraphNode.place`). */
  readonly place?: { readonly function: string; readonly instruction: number }
}

/** What a profiler collects. */
export interface ProfilerOptions {
  /** Kernel calls instead of operator calls: the method is compiled for the arguments and its plan is replayed. */
  readonly kernels?: boolean
}

/** Collects operator calls, or kernel calls, of a run. */
export class Profiler {
  /** What was collected, in the order in which it ended. */
  readonly events: ProfileEvent[] = []
  /** Whether it collects kernel calls. */
  readonly kernels: boolean

  /** Throws INVALID_ARGUMENT for unknown options. */
  constructor(options: ProfilerOptions = {}) {
    reading(() => checkOptions(options, { kernels: boolean } satisfies Record<keyof ProfilerOptions, unknown>, 'Profiler'))
    this.kernels = options.kernels ?? false
  }

  /** The time of an event, in microseconds. */
  now(): number {
    return performance.now() * 1000
  }

  /** Adds a call that began at `start`, by the instruction at `place`, and ends now. */
  record(name: string, start: number, place: NonNullable<ProfileEvent['place']>): void {
    this.events.push({ name, start, duration: this.now() - start, place })
  }

  /** The events in Chrome's trace format (chrome://tracing, Perfetto). */
  toChromeTrace(): string {
    const traceEvents = this.events.map(({ name, start, duration, work, label }) => ({
      name,
      cat: work === undefined ? 'operator' : 'kernel',
      ph: 'X',
      ts: start,
      dur: duration,
      pid,
      tid: 0,
      ...(work === undefined ? {} : { args: { ...work, ...(label === undefined ? {} : { label }) } }),
    }))
    return JSON.stringify({ traceEvents, displayTimeUnit: 'ms' })
  }
}
