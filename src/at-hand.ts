import { types } from 'node:util'
import { contentOf, type ModelSource } from './sources.js'

type Found = string | Uint8Array | ArrayBuffer

/** The path or the bytes of a source, at once where it is one of these. Throws as contentOf, and rejects with the signal's reason once that is aborted. */
export function atHand(source: ModelSource, signal?: AbortSignal): Found | Promise<Found> {
  if (typeof source === 'string' || ArrayBuffer.isView(source) || types.isArrayBuffer(source)) return source
  const content = contentOf(source)
  return signal === undefined ? content : untilAborted(content, signal)
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    // the reason is whatever the caller gave
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
