import { concatenated } from '../../runtime/bytes.js'
import { checkChunk, checkLength } from '../sources.js'
import type { Chunks } from './chunks.js'

/** What is kept of a file that did not come whole. */
export type OnPart = (bytes: Uint8Array) => Promise<void>

/** All pieces in memory of JavaScript. `onPart` gets those that came where the last ones do not. */
export async function collect(chunks: Chunks, onPart?: OnPart): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  let spare: ArrayBuffer | undefined
  try {
    for (;;) {
      const piece = await chunks.next(spare)
      if (piece === undefined) return concatenated(parts)
      checkChunk(piece)
      length += piece.length
      checkLength(length)
      // the next one may come in the same memory, which may be larger
      parts.push(piece.slice())
      spare = piece.buffer as ArrayBuffer
    }
  } catch (error) {
    chunks.cancel(error)
    await onPart?.(concatenated(parts))
    throw error
  }
}
