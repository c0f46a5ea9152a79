/**
 * What went wrong with a call:
 * - `argument`: the call was refused before anything was sent
 * - `http`: the server answered with an error, which `status` and `message` give
 * - `connection`: no whole answer came; whether the server did what was asked is not known
 * - `timeout`: the time of the call was over
 * - `protocol`: an answer came that is not of the protocol
 */
export type InferenceErrorCode = 'argument' | 'http' | 'connection' | 'timeout' | 'protocol'

/** The one class of errors of the client, but for a signal's own reason, which a call that was aborted rejects with. */
export class InferenceError extends Error {
  override readonly name = 'InferenceError'
  readonly code: InferenceErrorCode
  /** The HTTP status, or 0 where no answer came or none was asked for. */
  readonly status: number
  /** After how many milliseconds the server wants to be asked again, where it said so. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: InferenceErrorCode,
    message: string,
    details: { status?: number; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status ?? 0
    this.retryAfterMs = details.retryAfterMs
  }
}

/** An `argument` error: what was expected and what was found. */
export function wrong(message: string): InferenceError {
  return new InferenceError('argument', message)
}
