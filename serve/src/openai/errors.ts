import { RequestError } from '../protocol/error.js'

/** A request that OpenAI's interface refuses: which of its parameters is wrong, and a code that programs know. */
export class ApiError extends RequestError {
  constructor(
    status: number,
    message: string,
    readonly param: string | null = null,
    readonly code: string | null = null,
  ) {
    super(status, message)
  }
}

export function wrong(param: string, message: string): ApiError {
  return new ApiError(400, `${param}: ${message}`, param)
}

/** An error as clients of that interface read it. */
export function errorBody(error: Error, status: number): object {
  const { param, code } = error instanceof ApiError ? error : { param: null, code: status === 401 ? 'invalid_api_key' : null }
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message: error instanceof RequestError || status < 500 ? error.message : 'internal error', type, param, code } }
}
