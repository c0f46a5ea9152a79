import { InferenceError } from './errors.js'

/** The time of a call, and what ends it before. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Milliseconds that are left. */
  left(): number
  /** The error of a call that this signal ended. */
  reason(): unknown
  clear(): void
}

export function deadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  const end = performance.now() + timeoutMs
  const own = new AbortController()
  const timer = Number.isFinite(timeoutMs) ? setTimeout(() => own.abort(), timeoutMs) : undefined
  const forward = (): void => own.abort()
  if (signal?.aborted === true) own.abort()
  else signal?.addEventListener('abort', forward, { once: true })
  return {
    signal: own.signal,
    left: () => end - performance.now(),
    reason: (): unknown => (signal?.aborted === true ? signal.reason : new InferenceError('timeout', `no answer within ${timeoutMs} ms`)),
    clear: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', forward)
    },
  }
}

/** What may be tried again. */
export interface RetryRules {
  /** How often. */
  readonly retries: number
  /** A second run of what the first may have done is as good as one. */
  readonly isIdempotent: boolean
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000

/** Milliseconds of a `Retry-After` header, which has seconds or a date; undefined where it has neither. */
export function retryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/**
 * Makes attempts until one succeeds, and throws what the last one threw. After 503 and 429 nothing was run, so that each call is made again; after a lost
 * connection, or a proxy's 502 and 504, only what is idempotent.
 */
export async function attempts<T>(once: () => Promise<T>, rules: RetryRules, until: Deadline): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await once()
    } catch (error) {
      if (until.signal.aborted) throw until.reason()
      if (attempt >= rules.retries || !(error instanceof InferenceError) || !mayRepeat(error, rules.isIdempotent)) throw error
      // clients that were turned away together do not come back together
      const pause = error.retryAfterMs ?? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2)
      if (pause >= until.left()) throw error
      await wait(pause, until)
    }
  }
}

function mayRepeat({ code, status }: InferenceError, isIdempotent: boolean): boolean {
  if (code === 'http' && (status === 503 || status === 429)) return true
  return isIdempotent && (code === 'connection' || (code === 'http' && (status === 502 || status === 504)))
}

function wait(ms: number, until: Deadline): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      // the caller's own reason, whatever that is
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      reject(until.reason())
    }
    const timer = setTimeout(() => {
      until.signal.removeEventListener('abort', end)
      resolve()
    }, ms)
    until.signal.addEventListener('abort', end, { once: true })
  })
}
