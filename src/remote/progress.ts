import type { LoadProgress } from '../../engine/options.js'
import type { Chunks } from './chunks.js'

/** Tells of each piece how much there is with it; `from` bytes were there before the first one. */
export function told(chunks: Chunks, onProgress: (progress: LoadProgress) => void, from = 0): Chunks {
  let loaded = from
  return {
    announced: chunks.announced,
    isPromised: chunks.isPromised,
    async next(spare) {
      const piece = await chunks.next(spare)
      if (piece instanceof Uint8Array) {
        loaded += piece.length
        onProgress({ loaded, total: totalOf(chunks.announced, loaded) })
      }
      return piece
    },
    cancel: (reason) => chunks.cancel(reason),
  }
}

/** What was announced need not be true. */
const totalOf = (announced: number, loaded: number): number | undefined => (announced >= loaded ? announced : undefined)
