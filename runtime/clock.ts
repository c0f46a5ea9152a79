/** Milliseconds since some moment: `performance.now()` would have Node load `perf_hooks` first, which takes one. */
export function milliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}
