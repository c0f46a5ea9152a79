import type { ByteSource } from '../../formats/containers/bytes.js'
import type { Mapping } from '../../formats/containers/model-memory.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import * as features from '../../runtime/features.js'
import { isArrayBuffer, isUint8Array } from '../../runtime/intrinsics.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { kernelsReady } from '../../runtime/native/wasm/library.js'
import { filesOfHost } from '../../runtime/native/wasm/locate.js'
import { models } from '../../engine/lazy.js'
import { type Address, addressIn } from '../../src/remote/address.js'
import { type Chunks, chunksOf } from '../../src/remote/chunks.js'
import type { SourceOptions } from '../../src/remote/node.js'
import { CachedFile, fetched, type Receiver, watched } from '../../src/remote/fetched.js'
import { checkHash } from '../../src/remote/integrity.js'
import { contentOf, type ModelSource, read } from '../../src/sources.js'
import { openedCache } from '../cache/storage.js'
import { absolute } from '../receiving/absolute.js'
import { startHash } from '../receiving/hash.js'
import { receivedSource } from '../receiving/received-source.js'
import { receive } from '../receiving/receive.js'

type Found = Uint8Array | ArrayBuffer | ByteSource

/**
 * A model, once kernels can run and what reads models is there. What comes in pieces (an address, which is fetched, a Response, a File, a stream) lies in their memory already. Rejects as
 * contentOf, with what keeps kernels from being loaded, with ABORTED once the signal is aborted, and INVALID_FILE where the bytes are not those of `integrity`.
 */
export async function atHand(source: ModelSource, options: SourceOptions = {}): Promise<Found> {
  const [bytes] = await Promise.all([found(source, options), kernelsReady(), models.ready()])
  return bytes
}

async function found(source: ModelSource, options: SourceOptions): Promise<Found> {
  if (typeof source === 'string' || source instanceof URL) return foundAt(source, options)
  if (isUint8Array(source) || isArrayBuffer(source)) return checked(source, options)
  const chunks = await read(() => Promise.resolve(chunksOf(source)))
  if (chunks === undefined) return checked((await contentOf(source)) as Uint8Array | ArrayBuffer, options)
  const pieces = features.sources ? watched(chunks, startHash, options) : chunks
  return opened(await withSignal(options, () => read(() => receive(pieces, options.signal))), options)
}

function checked<Bytes extends Uint8Array | ArrayBuffer>(bytes: Bytes, { integrity }: SourceOptions): Bytes {
  if (!features.sources || integrity === undefined) return bytes
  const sum = startHash()
  sum.update(new Uint8Array(bytes as ArrayBuffer))
  checkHash(sum, integrity)
  return bytes
}

async function opened(received: Mapping, { signal }: SourceOptions): Promise<ByteSource> {
  try {
    await withSignal({ signal }, async () => models.ready())
  } catch (error) {
    kernels.mem_unmap(received)
    throw error
  }
  return receivedSource(received)
}

/** What fails because of a signal says so. */
async function withSignal<T>({ signal }: SourceOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throwIfAborted(signal)
    throw error
  }
}

async function foundAt(source: string | URL, options: SourceOptions): Promise<Found> {
  const text = String(source)
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase()
  // a path, or a URL of a file, where there are files; what is relative to the page elsewhere
  const files = scheme === undefined || scheme === 'file' ? filesOfHost() : undefined
  if (files === undefined) return fromAddress(scheme === 'blob' || scheme === 'data' ? text : addressOf(text), options)
  let bytes: Uint8Array
  try {
    bytes = files.readFileSync(scheme === undefined ? text : new URL(text))
  } catch (cause) {
    const code = (cause as { readonly code?: unknown }).code === 'ENOENT' ? 'NOT_FOUND' : 'INVALID_FILE'
    throw new PtliteError(code, `cannot read the model ${text}: ${(cause as Error).message}`, { cause })
  }
  return checked(bytes, options)
}

/** Relative to the page, where it is. */
function addressOf(text: string): Address {
  const address = features.sources ? addressIn(/^(https?|hf):/i.test(text) ? text : absolute(text)) : undefined
  return address ?? { url: text, headers: {}, shown: text }
}

async function fromAddress(source: string | Address, { cache, ...options }: SourceOptions): Promise<Found> {
  const address = typeof source === 'string' ? { url: source, headers: {}, shown: source.slice(0, 64) } : source
  // without caches, hashes and parts there is an answer alone
  if (!features.sources) {
    const { signal = null } = options
    return found(await withSignal(options, () => read(() => fetch(address.url, { headers: { ...address.headers }, signal }))), options)
  }
  const store = cache === undefined ? undefined : await openedCache(cache)
  const received = await withSignal(options, () =>
    store === undefined ? fetched(address, options, receiver(options)) : new CachedFile(address, store, options, receiver(options)).get(),
  )
  return opened(received, options)
}

function receiver({ signal }: SourceOptions): Receiver<Mapping> {
  return {
    hash: startHash,
    receive: (chunks: Chunks, onPart) => receive(chunks, signal, onPart),
    bytesOf({ address, size }) {
      const bytes = new Uint8Array(size)
      if (size > 0) kernels.mem_read({ address, bytes: size }, bytes)
      return bytes
    },
  }
}
