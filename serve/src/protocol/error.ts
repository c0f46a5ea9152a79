/** Status codes of gRPC that the server answers with. */
export const GrpcStatus = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

const GRPC_OF: Readonly<Record<number, number>> = {
  400: GrpcStatus.INVALID_ARGUMENT,
  401: GrpcStatus.UNAUTHENTICATED,
  404: GrpcStatus.NOT_FOUND,
  413: GrpcStatus.RESOURCE_EXHAUSTED,
  415: GrpcStatus.INVALID_ARGUMENT,
  499: GrpcStatus.CANCELLED,
  500: GrpcStatus.INTERNAL,
  503: GrpcStatus.UNAVAILABLE,
  504: GrpcStatus.DEADLINE_EXCEEDED,
}

/** What a request is answered with in place of a result. */
export class RequestError extends Error {
  /** `retryAfter`: seconds until another attempt makes sense. */
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message)
  }

  get grpcStatus(): number {
    return GRPC_OF[this.status] ?? GrpcStatus.INTERNAL
  }
}

/** A request that makes no sense. */
export function invalid(message: string): RequestError {
  return new RequestError(400, message)
}

/** Text of others as it may stand in a message: short, and on one line. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? `'${value.slice(0, MAX_QUOTED)}'` : value === undefined ? 'nothing' : briefly(value, MAX_LEVELS)
  const line = text.replace(/[\u0000-\u001f\u007f]/g, '?')
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED - 3)}...` : line
}

const MAX_QUOTED = 80
/** Lists in lists that are written out, and elements of each: what JSON can be as deep as it likes, and as long. */
const MAX_LEVELS = 4
const MAX_ITEMS = 20

/** The beginning of a value of JSON as text. */
function briefly(value: unknown, levels: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_QUOTED))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? typeof value
  const isList = Array.isArray(value)
  const [open, close] = isList ? '[]' : '{}'
  if (levels === 0) return `${open}...${close}`
  const parts: string[] = []
  let length = 0
  for (const key in value) {
    if (parts.length === MAX_ITEMS || length > MAX_QUOTED) {
      parts.push('...')
      break
    }
    const text = briefly((value as Record<string, unknown>)[key], levels - 1)
    const part = isList ? text : `${briefly(key, 0)}:${text}`
    length += part.length
    parts.push(part)
  }
  return `${open!}${parts.join(',')}${close!}`
}
