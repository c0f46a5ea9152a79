import { PtliteError } from './error.js'

/** What is thrown to those whose signal was aborted: ABORTED, whose cause is the signal's reason; DISPOSED where what is gone was the module. */
export function abortion(signal: AbortSignal): PtliteError {
  const cause = signal.reason as unknown
  if (cause instanceof PtliteError && cause.code === 'DISPOSED') return cause
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new PtliteError('ABORTED', `given up by its signal: ${reason}`, { cause })
}

/** Throws that once the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortion(signal)
}
