/** Sees each launch before it runs; the frame is filled. `own` is false for kernels of another library. */
export type LaunchObserver = (id: number, name: string, host: ArrayBufferView | null, own: boolean) => void

export let launchObserver: LaunchObserver | null = null

/** Makes `next` see all launches of this thread and returns who saw them before, to be put back when done. */
export function observeLaunches(next: LaunchObserver | null): LaunchObserver | null {
  const before = launchObserver
  launchObserver = next
  return before
}
