import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import { checkAnswer, checkChunk, checkLength } from '../sources.js'
import { untilAborted } from '../signal.js'
import type { Address } from './address.js'
import { announcedBy, type Chunks, isPacked, piecesOf } from './chunks.js'

/** What there is of a file from an earlier time. */
export interface Kept {
  /** Which the server gave the file then. */
  readonly tag: string
  /** All of it is there; else its first `bytes`. */
  readonly isWhole: boolean
  readonly bytes: number
}

/** A connection that brings less than this counts as one that failed. */
const PROGRESS_BYTES = 1 << 20
/** So many of these in a row are too many. */
const MAX_FAILURES = 5
/** Milliseconds before the second try; twice as many before each further one. */
const PAUSE = 100

/** What the server says that tells a file from others at its address; '' where it says nothing. */
export const tagIn = ({ headers }: Response): string => headers.get('etag') ?? headers.get('last-modified') ?? ''
/** Of the same tag byte for byte. */
const isStrong = (tag: string): boolean => tag !== '' && !/^W\//.test(tag)

/** A server that is not there, or in trouble. */
export class Unreachable extends PtliteError {}

/** A file that comes from a server, from its beginning or from where an earlier time ended, in one request or, where connections break, in several. */
export class Download implements Chunks {
  /** What is kept of it is what the server has, too: there are no pieces. */
  isSame = false
  /** Where the first piece begins. */
  from = 0
  tag = ''
  /** Bytes of the file, where the server says so. */
  total: number | undefined
  readonly isPromised = false
  private loaded = 0
  private isExact = false
  private body: Chunks | undefined
  private failures = 0
  private loadedAtFailure = 0

  private constructor(
    private readonly address: Address,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Throws NOT_FOUND, INVALID_FILE for other answers that are no file, and ABORTED. */
  static async begin(address: Address, kept: Kept | undefined, signal: AbortSignal | undefined): Promise<Download> {
    const download = new Download(address, signal)
    await download.open(kept)
    return download
  }

  get announced(): number {
    return this.total ?? 0
  }

  async next(spare?: ArrayBuffer): Promise<Uint8Array | undefined> {
    for (;;) {
      throwIfAborted(this.signal)
      try {
        const piece = await this.body!.next(spare)
        if (piece === undefined) {
          if (!this.isExact || this.loaded === this.total) return undefined
          throw new Error(`it ended after ${this.loaded} of ${this.total} bytes`)
        }
        checkChunk(piece)
        this.count(piece.length)
        return piece
      } catch (cause) {
        throwIfAborted(this.signal)
        if (cause instanceof PtliteError) throw cause
        // a connection that breaks behind the last byte has brought everything
        if (this.isExact && this.loaded === this.total) return undefined
        // its memory may be gone with the request
        spare = undefined
        await this.goOn(cause as Error)
      }
    }
  }

  cancel(reason: unknown): void {
    this.body?.cancel(reason)
  }

  private count(bytes: number): void {
    this.loaded += bytes
    checkLength(this.loaded)
    if (this.isExact && this.loaded > this.total!) throw this.invalid(`more than the ${this.total} bytes came that were announced`)
  }

  /** Asks for the rest behind a connection that broke. Throws INVALID_FILE where that cannot be had. */
  private async goOn(cause: Error): Promise<void> {
    const give = (advice: string): PtliteError =>
      this.invalid(
        `the connection broke after ${this.loaded}${this.total === undefined ? '' : ` of ${this.total}`} bytes (${cause.message}); ${advice}`,
        cause,
      )
    this.body?.cancel(cause)
    if (!isStrong(this.tag) || this.total === undefined || this.loaded === 0) throw give('load it again')
    if (this.loaded - this.loadedAtFailure >= PROGRESS_BYTES) this.failures = 0
    this.loadedAtFailure = this.loaded
    for (;;) {
      if (++this.failures > MAX_FAILURES) throw give(`${MAX_FAILURES} more tries did not help`)
      if (this.failures > 1) await pause(PAUSE << (this.failures - 2), this.signal)
      try {
        const answer = await this.ask({ range: `bytes=${this.loaded}-` })
        if (this.takeRest(answer, this.loaded, this.tag)) return
        void answer.body?.cancel().catch(() => undefined)
        throw give('the server has another file now, or does not give a part of it: load it again')
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error
      }
    }
  }

  private async open(kept: Kept | undefined): Promise<void> {
    const { isWhole = false, bytes = 0, tag = '' } = kept ?? {}
    if (isWhole && tag !== '') {
      const answer = await this.ask(this.isForeign() ? {} : unlessSame(tag), true)
      if (answer.status === 304 || tagIn(answer) === tag) {
        void answer.body?.cancel().catch(() => undefined)
        this.isSame = true
        this.tag = tag
        return
      }
      this.takeAll(answer)
      return
    }
    if (bytes > 0 && isStrong(tag)) {
      const answer = await this.ask({ range: `bytes=${bytes}-` }, true)
      if (this.takeRest(answer, bytes, tag)) return
      if (answer.status === 200) {
        this.takeAll(answer)
        return
      }
      void answer.body?.cancel().catch(() => undefined)
    }
    this.takeAll(await this.ask({}))
  }

  /** Headers that are not simple are asked about by browsers first, which servers may not know. */
  private isForeign(): boolean {
    const { location } = globalThis as { readonly location?: { readonly origin: string } }
    return location !== undefined && new URL(this.address.url).origin !== location.origin
  }

  /** Throws UNREACHABLE, NOT_FOUND and INVALID_FILE. */
  private async ask(headers: Readonly<Record<string, string>>, revalidates = false): Promise<Response> {
    const { address, signal } = this
    let answer: Response
    try {
      answer = await fetch(address.url, {
        // ranges and lengths are of bytes as they are sent
        headers: { 'accept-encoding': 'identity', ...address.headers, ...headers },
        ...(revalidates ? { cache: 'no-cache' } : {}),
        ...(signal === undefined ? {} : { signal }),
      } as RequestInit)
    } catch (cause) {
      throwIfAborted(signal)
      const { message, cause: why } = cause as Error
      const detail = why instanceof Error && why.message !== '' ? `${message}: ${why.message}` : message
      throw new Unreachable('INVALID_FILE', `cannot read the model ${address.shown}: ${detail}`, { cause })
    }
    if (answer.ok || answer.status === 304 || answer.status === 416) {
      if (/^https:/i.test(address.url) && /^http:/i.test(answer.url)) throw this.invalid('the server leads from https to http')
      return answer
    }
    void answer.body?.cancel().catch(() => undefined)
    const { status } = answer
    if (status >= 500 || status === 429)
      throw new Unreachable('INVALID_FILE', `cannot read the model ${address.shown}: the server answered with status ${status}`)
    if (status === 401 || status === 403) {
      const advice =
        'authorization' in address.headers
          ? 'the token of HF_TOKEN does not open it'
          : 'it has to be asked for by name: HF_TOKEN in the environment for hf://, headers of `await fetch(url, { headers })` elsewhere'
      throw this.invalid(`the server answered with status ${status}; ${advice}`)
    }
    checkAnswer({ ok: false, status, url: address.shown })
    throw this.invalid(`the server answered with status ${status}`)
  }

  private takeAll(answer: Response): void {
    if (answer.status !== 200) {
      void answer.body?.cancel().catch(() => undefined)
      throw this.invalid(`the server answered with status ${answer.status} to a request for all of it`)
    }
    const announced = announcedBy(answer)
    this.tag = tagIn(answer)
    this.total = announced > 0 ? announced : undefined
    // what is packed on its way says so to programs of its own origin alone
    this.isExact = announced > 0 && answer.type !== 'cors'
    this.begins(answer)
  }

  /** The bytes from `first` on, where that is what was answered, of the same file. */
  private takeRest(answer: Response, first: number, tag: string): boolean {
    const range = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/
      .exec(answer.headers.get('content-range') ?? '')
      ?.slice(1)
      .map(Number)
    if (answer.status !== 206 || range === undefined || tagIn(answer) !== tag || isPacked(answer)) return false
    const [from, last, total] = range as [number, number, number]
    if (from !== first || last !== total - 1 || first >= total || (this.total !== undefined && this.total !== total)) return false
    ;[this.tag, this.total, this.isExact, this.loaded] = [tag, total, true, first]
    if (this.body === undefined) this.from = this.loadedAtFailure = first
    this.begins(answer)
    return true
  }

  private begins(answer: Response): void {
    if (this.total !== undefined) checkLength(this.total)
    this.body = piecesOf(answer)
  }

  private invalid(found: string, cause?: unknown): PtliteError {
    return new PtliteError('INVALID_FILE', `cannot read the model ${this.address.shown}: ${found}`, { cause })
  }
}

const unlessSame = (tag: string): Record<string, string> => (/^(W\/)?"/.test(tag) ? { 'if-none-match': tag } : { 'if-modified-since': tag })

async function pause(time: number, signal: AbortSignal | undefined): Promise<void> {
  const over = new Promise<void>((resolve) => setTimeout(resolve, time))
  await (signal === undefined ? over : untilAborted(over, signal))
}
