import { throwIfAborted } from '../runtime/aborted.js'
import { concatenated } from '../runtime/bytes.js'
import { PtliteError } from '../runtime/error.js'
import { isArrayBuffer } from '../runtime/intrinsics.js'
import { reading } from '../runtime/tensor/check-arguments.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { untilAborted } from './signal.js'

/**
 * Where a model is read from: a path or a `file:` URL, bytes, what gives its bytes by `arrayBuffer()` (a `Blob`, a `File`, the `Response` of a `fetch`), or a stream of them (of
 * Node or of the web).
 */
export type ModelSource =
  string | URL | Uint8Array | ArrayBuffer | { arrayBuffer(): Promise<ArrayBuffer> } | AsyncIterable<Uint8Array> | Iterable<Uint8Array>

type Content = string | Uint8Array | ArrayBuffer

/** Of a stream, all of which has to be in memory, twice for a moment. */
const MAX_BYTES = 2 ** 33

/**
 * The bytes of a source that has to be waited for. Throws INVALID_ARGUMENT for what is no source, and
 * INVALID_FILE with its cause where it cannot be read. Rejects with ABORTED once that is aborted.
 */
export async function contentOf(source: Exclude<ModelSource, Content | URL>, signal?: AbortSignal): Promise<Content> {
  throwIfAborted(signal)
  const content = reading(() => readerOf(source))()
  return await (signal === undefined ? content : untilAborted(content, signal))
}

/** Looks at a source, and gives what reads it. */
function readerOf(source: Exclude<ModelSource, Content | URL>): () => Content | Promise<Content> {
  if (typeof source !== 'object' || (source as unknown) === null) throw notASource(source)
  if ('arrayBuffer' in source && typeof source.arrayBuffer === 'function') {
    checkAnswer(source)
    return () => read(async () => bufferFrom(await source.arrayBuffer()))
  }
  if (Symbol.asyncIterator in source || Symbol.iterator in source) return () => read(() => collected(source))
  throw notASource(source)
}

/** A page that says that there is no such file is no model. Throws NOT_FOUND or INVALID_FILE for a `Response` of an error. */
export function checkAnswer(source: object): void {
  const { ok, status, url } = source as { readonly ok?: unknown; readonly status?: unknown; readonly url?: unknown }
  if (ok !== false) return
  const code = status === 404 || status === 410 ? 'NOT_FOUND' : 'INVALID_FILE'
  throw new PtliteError(code, `the server answered with status ${String(status)} for ${String(url)}`)
}

function bufferFrom(found: unknown): ArrayBuffer {
  if (isArrayBuffer(found)) return found
  throw new PtliteError('INVALID_ARGUMENT', `arrayBuffer() of the model gave ${kindOf(found)}`)
}

/** What `content` gives. Throws INVALID_FILE with its cause for errors of others. */
export async function read<T>(content: () => Promise<T>): Promise<T> {
  try {
    return await content()
  } catch (cause) {
    if (cause instanceof PtliteError) throw cause
    const message = cause instanceof Error ? cause.message : kindOf(cause)
    throw new PtliteError('INVALID_FILE', `the bytes of the model cannot be read: ${message}`, { cause })
  }
}

async function collected(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of chunks) {
    checkChunk(part)
    length += part.length
    checkLength(length)
    parts.push(part)
  }
  return concatenated(parts)
}

export function checkChunk(part: unknown): asserts part is Uint8Array {
  if (!(part instanceof Uint8Array)) throw new PtliteError('INVALID_ARGUMENT', `expected a stream of bytes, found ${kindOf(part)} in it`)
}

export function checkLength(length: number): void {
  if (length > MAX_BYTES) throw new PtliteError('INVALID_FILE', `the stream is longer than ${MAX_BYTES} bytes; pass the path of a file`)
}

function notASource(found: unknown): PtliteError {
  return new PtliteError(
    'INVALID_ARGUMENT',
    `expected a path, a file: URL, bytes, a Blob, a Response or a stream of bytes, found ${kindOf(found)}`,
  )
}
