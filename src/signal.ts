import { abortion } from '../runtime/aborted.js'
import { callback } from '../runtime/tensor/check-arguments.js'

/** By what it does: browsers' test environments have a class of their own. */
export function isSignal(value: unknown): string | null {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>
  return typeof aborted === 'boolean' && callback(addEventListener) === null ? null : 'an AbortSignal'
}

/** A signal of the host, which follows one of another class. */
export function ownSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || signal instanceof AbortSignal) return signal
  const other: AbortSignal = signal
  const own = new AbortController()
  const follow = (): void => own.abort(other.reason)
  if (other.aborted) follow()
  else other.addEventListener('abort', follow, { once: true })
  return own.signal
}

/** Closes the source of a load and throws ABORTED once the signal is aborted. */
export function giveUpIfAborted(signal: AbortSignal, source: { close(): void }): void {
  if (!signal.aborted) return
  source.close()
  throw abortion(signal)
}

/** What `work` comes to, or a rejection with ABORTED once that is aborted. */
export async function untilAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(abortion(signal))
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
