import { MessageChannel } from 'node:worker_threads'

/** Bytes of buffers that are worth it. */
const LEAST_BYTES = 1 << 12

const { port1: nowhere } = new MessageChannel()
nowhere.close()

/**
 * Gives the memory of a buffer back at once, where the buffer is all that lies in it; it has no elements afterwards. V8 counts memory outside of its
 * heap, and collects the garbage of the whole heap after some megabytes of it: milliseconds in which nobody is answered.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer
  if (!(memory instanceof ArrayBuffer) || memory.byteLength < LEAST_BYTES || buffer.length !== memory.byteLength) return
  // what is handed over to a port that is closed is nobody's
  nowhere.postMessage(null, [memory])
}
