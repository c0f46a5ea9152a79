import { InferenceError } from './errors.js'

/** The body of an answer, which may have up to `limit` bytes. */
export async function readBody(response: Response, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = (): InferenceError =>
    new InferenceError('protocol', `the answer has more than ${limit} bytes (maxResponseBytes)`, { status: response.status })
  const length = response.headers.get('content-length')
  if (length !== null && Number(length) > limit) {
    await response.body?.cancel()
    throw tooLarge()
  }
  // a length that is given holds, but for bodies that grow when they are decompressed
  if (length !== null && response.headers.get('content-encoding') === null) return new Uint8Array(await response.arrayBuffer())
  const parts: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (;;) {
    const next = await reader?.read()
    const part = next?.value as Uint8Array | undefined
    if (part === undefined) break
    size += part.length
    if (size > limit) {
      await reader?.cancel()
      throw tooLarge()
    }
    parts.push(part)
  }
  const body = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return body
}
