import { RequestError } from '../protocol/error.js'
import type { Failure } from './messages.js'

/** Statuses of what a model or the library refuses; of all else 500. */
const STATUS: Readonly<Record<string, number>> = {
  ...{ INVALID_ARGUMENT: 400, INVALID_DTYPE: 400, UNSUPPORTED_DTYPE: 400, MODEL_ERROR: 400 },
  ...{ OUT_OF_MEMORY: 503, ABORTED: 499 },
}

/** What a failure in a worker is answered with. */
export function errorOf({ code, message }: Failure): RequestError {
  if (code === 'LIMIT_EXCEEDED') return new RequestError(message.includes('limits.milliseconds') ? 504 : 400, message)
  return new RequestError(STATUS[code ?? ''] ?? 500, message)
}
