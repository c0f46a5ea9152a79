import { attempts, deadline, retryAfter, type RetryRules } from './attempts.js'
import { readBody } from './body.js'
import { InferenceError, wrong } from './errors.js'
import { type CallOptions, type ClientOptions } from './types.js'

export interface Request {
  readonly method: 'GET' | 'POST'
  /** After `v2`, with its slash. */
  readonly path: string
  readonly body?: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer>
}

/** Sends requests to one server. */
export class Transport {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #timeoutMs: number
  readonly #retries: number
  readonly #limit: number
  readonly #fetch: typeof fetch

  constructor(url: string | URL, options: ClientOptions) {
    this.#base = baseOf(url)
    const { token, timeoutMs = 60_000, retries = 3, headers = {}, maxResponseBytes = 2 ** 30 } = options
    this.#timeoutMs = checkedTimeout(timeoutMs)
    if (!Number.isSafeInteger(retries) || retries < 0) throw wrong(`retries: expected an integer from 0, found ${retries}`)
    if (!(maxResponseBytes > 0)) throw wrong(`maxResponseBytes: expected a number above 0, found ${maxResponseBytes}`)
    if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)))
      throw wrong('token: expected printable ASCII without spaces')
    this.#retries = retries
    this.#limit = maxResponseBytes
    this.#headers = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const own = options.fetch
    // the global one may be replaced later, and in browsers insists on its this
    this.#fetch = own ?? ((input, init) => globalThis.fetch(input, init))
  }

  /** The whole answer to a request, made again as often as the rules allow. */
  async send(request: Request, options: CallOptions, rules: Partial<RetryRules> = {}): Promise<Answer> {
    const until = deadline(options.timeoutMs === undefined ? this.#timeoutMs : checkedTimeout(options.timeoutMs), options.signal)
    try {
      if (until.signal.aborted) throw until.reason()
      return await attempts(() => this.#once(request, until.signal), { retries: this.#retries, isIdempotent: true, ...rules }, until)
    } finally {
      until.clear()
    }
  }

  async #once({ method, path, body, headers }: Request, signal: AbortSignal): Promise<Answer> {
    let response: Response
    let bytes: Uint8Array<ArrayBuffer>
    try {
      response = await this.#fetch(`${this.#base}/v2${path}`, {
        method,
        headers: { ...this.#headers, ...headers },
        // a token goes to the server that was named, and to no other
        redirect: 'error',
        signal,
        ...(body !== undefined && { body }),
      })
      bytes = await readBody(response, this.#limit)
    } catch (cause) {
      if (cause instanceof InferenceError) throw cause
      throw new InferenceError('connection', `${method} /v2${path}: ${reasonOf(cause)}`, { cause })
    }
    if (response.ok) return { headers: response.headers, body: bytes }
    const retryAfterMs = retryAfter(response.headers.get('retry-after'))
    throw new InferenceError('http', messageOf(bytes, response), { status: response.status, retryAfterMs })
  }
}

function baseOf(url: string | URL): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw wrong(`url: ${JSON.stringify(url)} is no URL; expected e.g. http://localhost:8000`)
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') throw wrong(`url: expected http or https, found ${parsed.protocol}`)
  if (parsed.username !== '' || parsed.password !== '') throw wrong('url: names and passwords in a URL are not sent; use token or headers')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

function checkedTimeout(timeoutMs: number): number {
  if (!(timeoutMs > 0)) throw wrong(`timeoutMs: expected a number above 0, found ${timeoutMs}`)
  // longer timers fire at once
  return timeoutMs >= 2 ** 31 ? Infinity : timeoutMs
}

/** What Node's fetch hides in the cause of its error. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: unknown; cause?: unknown }
  const inner = (cause as { message?: unknown } | undefined)?.message
  return typeof inner === 'string' && inner !== '' ? inner : String(message ?? error)
}

const LONGEST_MESSAGE = 2_000

/** The protocol's error, or else the body, which may be a proxy's. */
function messageOf(body: Uint8Array, response: Response): string {
  const text = new TextDecoder().decode(body.subarray(0, 16 * LONGEST_MESSAGE)).trim()
  let message = text
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') message = error
  } catch {
    // not JSON
  }
  return message === '' ? `${response.status} ${response.statusText}`.trim() : message.slice(0, LONGEST_MESSAGE)
}
