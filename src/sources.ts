import { constants } from 'node:buffer'
import { fileURLToPath } from 'node:url'
import { types } from 'node:util'
import { PtliteError } from '../runtime/error.js'
import { kindOf } from '../runtime/tensor/kind-of.js'

/**
 * Where a model is read from: a path or a `file:` URL, bytes, what gives its bytes by `arrayBuffer()` (a `Blob`, a `File`, the `Response` of a `fetch`), or a stream of them (of
 * Node or of the web).
 */
export type ModelSource =
  string | URL | Uint8Array | ArrayBuffer | { arrayBuffer(): Promise<ArrayBuffer> } | AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * The path or the bytes of a source that is neither yet. Throws INVALID_ARGUMENT for URLs of other schemes and for what is no source, and
 * INVALID_FILE with its cause where it cannot be read.
 */
export async function contentOf(
  source: Exclude<ModelSource, string | Uint8Array | ArrayBuffer>,
): Promise<string | Uint8Array | ArrayBuffer> {
  if (typeof source !== 'object' || (source as unknown) === null) throw notASource(source)
  if (source instanceof URL) return pathOf(source)
  if ('arrayBuffer' in source && typeof source.arrayBuffer === 'function') {
    if ((source as { readonly ok?: boolean }).ok === false)
      throw failedResponse(source as { readonly status?: unknown; readonly url?: unknown })
    const bytes = await read(() => source.arrayBuffer())
    if (!types.isArrayBuffer(bytes)) throw new PtliteError('INVALID_ARGUMENT', `arrayBuffer() of the model gave ${kindOf(bytes)}`)
    return bytes
  }
  if (Symbol.asyncIterator in source || Symbol.iterator in source) return await read(() => collected(source))
  throw notASource(source)
}

function pathOf(url: URL): string {
  if (url.protocol !== 'file:')
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `expected a file: URL, found ${url.protocol}; pass \`await fetch(url)\` for a model on a server`,
    )
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new PtliteError('INVALID_ARGUMENT', `the URL of the model: ${(cause as Error).message}`, { cause })
  }
}

/** A page that says that there is no such file is no model. */
function failedResponse(response: { readonly status?: unknown; readonly url?: unknown }): PtliteError {
  return new PtliteError('INVALID_FILE', `the server answered with status ${String(response.status)} for ${String(response.url)}`)
}

async function read<T>(content: () => Promise<T>): Promise<T> {
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
    if (!((part as unknown) instanceof Uint8Array))
      throw new PtliteError('INVALID_ARGUMENT', `expected a stream of bytes, found ${kindOf(part)} in it`)
    length += part.length
    if (length > constants.MAX_LENGTH) throw new PtliteError('INVALID_FILE', `the stream is longer than ${constants.MAX_LENGTH} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}

function notASource(found: unknown): PtliteError {
  return new PtliteError(
    'INVALID_ARGUMENT',
    `expected a path, a file: URL, bytes, a Blob, a Response or a stream of bytes, found ${kindOf(found)}`,
  )
}
