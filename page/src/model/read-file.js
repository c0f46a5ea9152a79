/** A file of the user, or what { url } leads to, as bytes. `progress` gets the share that has been read, and its bytes. Throws the signal's reason once it is aborted. */
export async function readWithProgress(source, signal, progress) {
  const { stream, size } = source.url === undefined ? { stream: source.stream(), size: source.size } : await download(source.url, signal)
  let bytes = new Uint8Array(Math.max(size, 1024))
  let length = 0
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) break
      // a server may send more than it says, where it says anything
      if (length + value.length > bytes.length) {
        const larger = new Uint8Array(Math.max(2 * bytes.length, length + value.length))
        larger.set(bytes.subarray(0, length))
        bytes = larger
      }
      bytes.set(value, length)
      length += value.length
      progress(size === 0 ? 0 : Math.min(1, length / size), length)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
  return length === bytes.length ? bytes.buffer : bytes.buffer.slice(0, length)
}

async function download(url, signal) {
  let response
  try {
    response = await fetch(url, { signal, credentials: 'same-origin' })
  } catch (error) {
    if (signal.aborted || new URL(url).origin === location.origin) throw error
    throw new Error('It cannot be read. Its server has to let pages of others read it (Access-Control-Allow-Origin)', { cause: error })
  }
  if (!response.ok) throw new Error(`The server answered with status ${response.status}`)
  return { stream: response.body, size: response.headers.has('content-encoding') ? 0 : Number(response.headers.get('content-length') ?? 0) }
}
