import { PtliteError } from '../../runtime/error.js'
import { kernelsReady } from '../../runtime/native/wasm/library.js'
import { filesOfHost } from '../../runtime/native/wasm/locate.js'
import { contentOf, type ModelSource } from '../../src/sources.js'
import { types } from '../node/util.js'

/**
 * The bytes of a model, once kernels can run: an address is fetched, or read from a file where the host has files. Rejects as contentOf, and with what keeps
 * kernels from being loaded.
 */
export async function atHand(source: ModelSource): Promise<Uint8Array | ArrayBuffer> {
  const [bytes] = await Promise.all([bytesOf(source), kernelsReady()])
  return bytes
}

async function bytesOf(source: ModelSource): Promise<Uint8Array | ArrayBuffer> {
  if (typeof source === 'string' || source instanceof URL) return bytesAt(source)
  return types.isUint8Array(source) || types.isArrayBuffer(source) ? source : ((await contentOf(source)) as Uint8Array | ArrayBuffer)
}

async function bytesAt(address: string | URL): Promise<Uint8Array | ArrayBuffer> {
  const text = String(address)
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]
  // a path, or a URL of a file, where there are files; what is relative to the page elsewhere
  const files = scheme === undefined || scheme === 'file' ? filesOfHost() : undefined
  let answer: Response
  try {
    if (files !== undefined) return files.readFileSync(scheme === undefined ? text : new URL(text))
    answer = await fetch(text)
  } catch (cause) {
    throw new PtliteError('INVALID_FILE', `cannot read the model ${text}: ${(cause as Error).message}`, { cause })
  }
  return (await contentOf(answer)) as ArrayBuffer
}
