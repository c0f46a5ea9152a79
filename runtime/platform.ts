/* What Node says of the machine, and does for the library. web/platform/platform.ts stands for it in browsers. */

/** The processor, as Node names it. */
export const arch: string = process.arch
export const env: Readonly<Record<string, string | undefined>> = process.env
/** Of the process. */
export const pid = process.pid

/** Of a clock that only goes forward: `performance.now()` would have Node load `perf_hooks` first, which takes a millisecond. */
export const nanoseconds = (): bigint => process.hrtime.bigint()

/** Milliseconds of the same clock. */
export function milliseconds(): number {
  const [seconds, rest] = process.hrtime()
  return seconds * 1000 + rest / 1e6
}

/** What a model prints. */
export function print(text: string): void {
  process.stdout.write(text)
}

/** What a model warns of. */
export function warn(text: string): void {
  process.emitWarning(text)
}

/** Runs a task when what waits in the event loop has had its turn. */
export function soon(task: () => void): void {
  setImmediate(task)
}
