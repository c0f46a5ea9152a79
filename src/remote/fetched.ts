import type { CacheLike, LoadProgress } from '../../engine/options.js'
import { PtliteError } from '../../runtime/error.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { read } from '../sources.js'
import type { Address } from './address.js'
import { type Chunks, chunksOf } from './chunks.js'
import type { OnPart } from './collect.js'
import { Download, type Kept, Unreachable } from './download.js'
import { type Hash, hashed } from './integrity.js'
import { told } from './progress.js'

/** How what comes in pieces is read. */
export interface ReceivingOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined
  readonly integrity?: string | undefined
}

/** What the host does with pieces. */
export interface Receiver<Content> {
  hash(): Hash
  /** Puts them together. */
  receive(chunks: Chunks, onPart?: OnPart): Promise<Content>
  /** A copy of what was put together. */
  bytesOf(content: Content): Uint8Array<ArrayBuffer>
}

/** Pieces that are counted and checked as the options say. */
export function watched(chunks: Chunks, hash: () => Hash, { onProgress, integrity }: ReceivingOptions, from = 0): Chunks {
  const counted = onProgress === undefined ? chunks : told(chunks, onProgress, from)
  return integrity === undefined ? counted : hashed(counted, hash(), integrity)
}

/** A file of a server. */
export async function fetched<Content>(address: Address, options: ReceivingOptions, receiver: Receiver<Content>): Promise<Content> {
  const download = await Download.begin(address, undefined, options.signal)
  return receiver.receive(watched(download, () => receiver.hash(), options))
}

const TAG = 'x-ptlite-file'
const BYTES = 'x-ptlite-bytes'
/** A part that is smaller comes faster than it is looked for. */
const MIN_PART = 1 << 20

/** A file of a server that a cache keeps, and as much of one as came. */
export class CachedFile<Content> {
  private readonly partKey: string

  constructor(
    private readonly address: Address,
    private readonly cache: CacheLike,
    private readonly options: ReceivingOptions,
    private readonly receiver: Receiver<Content>,
  ) {
    this.partKey = `${address.url}${address.url.includes('?') ? '&' : '?'}ptlite-part`
  }

  async get(): Promise<Content> {
    const { address, options } = this
    const whole = await this.match(address.url)
    // of whose hash is known there is one version
    if (whole !== undefined && options.integrity !== undefined) {
      const content = await this.taken(whole.answer, whole.kept)
      if (content !== undefined) return content
    }
    const isUsable = whole !== undefined && options.integrity === undefined
    const part = isUsable ? undefined : await this.match(this.partKey)
    let download: Download
    try {
      download = await Download.begin(address, isUsable ? whole.kept : part && { ...part.kept, isWhole: false }, options.signal)
    } catch (error) {
      const content = isUsable && error instanceof Unreachable ? await this.taken(whole.answer, whole.kept) : undefined
      if (content === undefined) throw error
      return content
    }
    if (download.isSame) {
      const content = await this.taken(whole!.answer, whole!.kept)
      if (content !== undefined) return content
      download = await Download.begin(address, undefined, options.signal)
    }
    const first = download.from > 0 ? await read(() => Promise.resolve(chunksOf(part!.answer))) : undefined
    return this.received(first === undefined ? download : joined(first, download), download)
  }

  private async received(chunks: Chunks, download: Download): Promise<Content> {
    const { cache, address, options, receiver } = this
    const { tag } = download
    const onPart: OnPart = async (bytes) => {
      if (tag !== '' && bytes.length >= MIN_PART && bytes.length < download.announced) await this.put(this.partKey, bytes, tag)
    }
    const content = await receiver.receive(
      watched(chunks, () => receiver.hash(), options),
      onPart,
    )
    if (tag !== '' || options.integrity !== undefined) await this.put(address.url, receiver.bytesOf(content), tag)
    await cache.delete(this.partKey).catch(() => false)
    return content
  }

  /** What is kept, all of it; undefined where that is damaged, or another than is wanted. */
  private async taken(answer: Response, { bytes }: Kept): Promise<Content | undefined> {
    const { options, receiver } = this
    try {
      const chunks = await read(() => Promise.resolve(chunksOf(answer)))
      return await receiver.receive(watched(ofLength(chunks!, bytes), () => receiver.hash(), options))
    } catch (error) {
      throwIfAborted(options.signal)
      if (!(error instanceof PtliteError) || error.code !== 'INVALID_FILE') throw error
      await this.cache.delete(this.address.url).catch(() => false)
      return undefined
    }
  }

  private async match(key: string): Promise<{ readonly answer: Response; readonly kept: Kept } | undefined> {
    const answer = await this.cache.match(key).catch(() => undefined)
    const [tag, bytes] = [answer?.headers.get(TAG) ?? undefined, Number(answer?.headers.get(BYTES) ?? NaN)]
    if (answer === undefined || tag === undefined || !Number.isSafeInteger(bytes) || bytes < 0) return undefined
    return { answer, kept: { tag, bytes, isWhole: true } }
  }

  /** What there is no room for comes again next time. */
  private async put(key: string, bytes: Uint8Array, tag: string): Promise<void> {
    const headers = { [TAG]: tag, [BYTES]: String(bytes.length), 'content-type': 'application/octet-stream' }
    await this.cache.put(key, new Response(bytes as Uint8Array<ArrayBuffer>, { headers })).catch(() => undefined)
  }
}

/** Throws INVALID_FILE behind the last piece where they are not of this length. */
function ofLength(chunks: Chunks, bytes: number): Chunks {
  let length = 0
  return {
    announced: bytes,
    isPromised: true,
    async next(spare) {
      const piece = await chunks.next(spare)
      if (piece instanceof Uint8Array) length += piece.length
      if (length > bytes || (piece === undefined && length < bytes))
        throw new PtliteError('INVALID_FILE', `what is kept of the model has ${length} bytes, not ${bytes}`)
      return piece
    },
    cancel: (reason) => chunks.cancel(reason),
  }
}

/** The pieces of a part that is kept, and what follows them. */
function joined(part: Chunks, rest: Download): Chunks {
  const first = ofLength(part, rest.from)
  let isOver = false
  return {
    announced: rest.announced,
    isPromised: false,
    async next(spare) {
      if (!isOver) {
        const piece = await first.next(spare)
        if (piece !== undefined) return piece
        isOver = true
        // that memory is the other stream's
        return rest.next()
      }
      return rest.next(spare)
    },
    cancel(reason) {
      first.cancel(reason)
      rest.cancel(reason)
    },
  }
}
