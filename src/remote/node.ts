import type { CacheLike } from '../../engine/options.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import { isArrayBuffer } from '../../runtime/intrinsics.js'
import { contentOf, type ModelSource, read } from '../sources.js'
import { addressIn } from './address.js'
import { chunksOf } from './chunks.js'
import { collect } from './collect.js'
import { checkFile, pathInDirectory } from './directory.js'
import { CachedFile, fetched, type Receiver, type ReceivingOptions, watched } from './fetched.js'
import { checkHash } from './integrity.js'
import { startHash } from './node-hash.js'

/* Models that come from servers and streams, in Node. In browsers web/platform/at-hand.ts does the same. */

export interface SourceOptions extends ReceivingOptions {
  readonly cache?: string | CacheLike | undefined
}

const receiver: Receiver<Uint8Array> = {
  hash: startHash,
  receive: collect,
  bytesOf: (content) => content as Uint8Array<ArrayBuffer>,
}

/** The bytes of a model at an address, or the path of what a directory keeps of it. */
export async function contentAt(source: string | URL, { cache, ...options }: SourceOptions): Promise<string | Uint8Array> {
  throwIfAborted(options.signal)
  const address = addressIn(source)
  if (address === undefined) throw new PtliteError('INTERNAL', `${String(source)} is no address`)
  if (typeof cache === 'string') return pathInDirectory(address, cache, options)
  return cache === undefined ? fetched(address, options, receiver) : new CachedFile(address, cache, options, receiver).get()
}

/** As contentOf, where somebody is told of the pieces. */
export async function received(
  source: Exclude<ModelSource, string | URL>,
  options: ReceivingOptions,
): Promise<string | Uint8Array | ArrayBuffer> {
  throwIfAborted(options.signal)
  const chunks = await read(() => Promise.resolve(chunksOf(source)))
  if (chunks === undefined) return contentOf(source as Exclude<typeof source, Uint8Array | ArrayBuffer>, options.signal)
  const { signal } = options
  const stop = (): void => chunks.cancel(signal?.reason)
  signal?.addEventListener('abort', stop)
  try {
    return await read(() => collect(watched(chunks, startHash, { ...options, integrity: undefined })))
  } finally {
    signal?.removeEventListener('abort', stop)
    throwIfAborted(signal)
  }
}

/** What was found, where its bytes are those that were expected. Throws INVALID_FILE. */
export async function checked<Found extends string | Uint8Array | ArrayBuffer>(
  found: Found | Promise<Found>,
  integrity: string,
): Promise<Found> {
  const content = await found
  if (typeof content === 'string') await checkFile(content, integrity)
  else {
    const hash = startHash()
    hash.update(isArrayBuffer(content) ? new Uint8Array(content) : (content as Uint8Array))
    checkHash(hash, integrity)
  }
  return content
}
