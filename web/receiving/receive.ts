import type { Mapping } from '../../formats/containers/model-memory.js'
import { abortion } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import { kernelsReady } from '../../runtime/native/wasm/library.js'
import { checkChunk, checkLength } from '../../src/sources.js'
import type { Chunks } from '../../src/remote/chunks.js'
import type { OnPart } from '../../src/remote/collect.js'
import { GrowingBlock } from './growing-block.js'

/** Bytes that may wait for the kernels to be loaded. */
const MAX_WAITING = 16 << 20

/**
 * Puts pieces into the kernels' memory as they come. Rejects with ABORTED once that is aborted, with INVALID_FILE where fewer bytes come
 * than were promised, and as the pieces and the kernels do; nothing is left behind then. `onPart` gets those that came where the last ones do not.
 */
export async function receive(chunks: Chunks, signal?: AbortSignal, onPart?: OnPart): Promise<Mapping> {
  const block = new GrowingBlock(chunks.announced)
  const waiting: Uint8Array[] = []
  let [isReady, length, kept] = [false, 0, 0]
  let spare: ArrayBuffer | undefined
  const ready = kernelsReady().then(() => {
    isReady = true
  })
  const end = endOf(signal, ready)
  try {
    for (;;) {
      const chunk = await Promise.race([chunks.next(spare), end.reached])
      spare = undefined
      if (chunk !== undefined) {
        checkChunk(chunk)
        length += chunk.length
        checkLength(length)
        waiting.push(chunk)
        kept += chunk.length
      }
      if (chunk === undefined || kept > MAX_WAITING) await Promise.race([ready, end.reached])
      if (isReady || chunk === undefined) {
        for (const piece of waiting.splice(0)) {
          block.add(piece)
          spare = piece.buffer as ArrayBuffer
        }
        kept = 0
      }
      if (chunk === undefined) break
    }
    if (chunks.isPromised && length < chunks.announced)
      throw new PtliteError('INVALID_FILE', `the bytes of the model ended after ${length} of ${chunks.announced}; load it again`)
    return block.take()
  } catch (error) {
    chunks.cancel(error)
    const part = onPart === undefined ? undefined : block.copy()
    block.discard()
    if (part !== undefined) await onPart!(part)
    throw error
  } finally {
    end.forget()
  }
}

/** What ends waiting: the signal, and kernels that cannot be loaded. */
function endOf(signal: AbortSignal | undefined, ready: Promise<void>): { readonly reached: Promise<never>; forget(): void } {
  let abort = (): void => undefined
  const reached = new Promise<never>((_, reject) => {
    abort = () => reject(abortion(signal!))
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort)
    ready.catch(reject)
  })
  // it may come when nobody waits
  reached.catch(() => undefined)
  return { reached, forget: () => signal?.removeEventListener('abort', abort) }
}
