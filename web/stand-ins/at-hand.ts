import type { ByteSource } from '../../formats/containers/bytes.js'
import { PtliteError } from '../../runtime/error.js'
import { isArrayBuffer, isUint8Array } from '../../runtime/intrinsics.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { kernelsReady } from '../../runtime/native/wasm/library.js'
import { filesOfHost } from '../../runtime/native/wasm/locate.js'
import { models } from '../../engine/lazy.js'
import { contentOf, type ModelSource, read } from '../../src/sources.js'
import { chunksOf } from '../receiving/chunks.js'
import { receivedSource } from '../receiving/received-source.js'
import { receive } from '../receiving/receive.js'

type Found = Uint8Array | ArrayBuffer | ByteSource

/**
 * A model, once kernels can run and what reads models is there. What comes in pieces (an address, which is fetched, a Response, a File, a stream) lies in their memory already. Rejects as
 * contentOf, with what keeps kernels from being loaded, and with the signal's reason once that is aborted.
 */
export async function atHand(source: ModelSource, signal?: AbortSignal): Promise<Found> {
  const [bytes] = await Promise.all([found(source, signal), kernelsReady(), models.ready()])
  return bytes
}

async function found(source: ModelSource, signal: AbortSignal | undefined): Promise<Found> {
  if (typeof source === 'string' || source instanceof URL) return foundAt(source, signal)
  if (isUint8Array(source) || isArrayBuffer(source)) return source
  const chunks = await read(() => Promise.resolve(chunksOf(source)))
  if (chunks === undefined) return (await contentOf(source)) as Uint8Array | ArrayBuffer
  try {
    const received = await read(() => receive(chunks, signal))
    try {
      await models.ready()
    } catch (error) {
      kernels.mem_unmap(received)
      throw error
    }
    return receivedSource(received)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

async function foundAt(address: string | URL, signal: AbortSignal | undefined): Promise<Found> {
  const text = String(address)
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]
  // a path, or a URL of a file, where there are files; what is relative to the page elsewhere
  const files = scheme === undefined || scheme === 'file' ? filesOfHost() : undefined
  let answer: Response
  try {
    if (files !== undefined) return files.readFileSync(scheme === undefined ? text : new URL(text))
    answer = await fetch(text, signal === undefined ? {} : { signal })
  } catch (cause) {
    signal?.throwIfAborted()
    throw new PtliteError('INVALID_FILE', `cannot read the model ${text}: ${(cause as Error).message}`, { cause })
  }
  return found(answer, signal)
}
