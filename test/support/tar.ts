/** Files of an archive in the POSIX tar format (ustar), by name. */
export function readTar(bytes: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  const text = (start: number, length: number): string =>
    Buffer.from(bytes.subarray(start, start + length))
      .toString('latin1')
      .replace(/\0.*$/s, '')
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const size = parseInt(text(at + 124, 12), 8)
    files.set(text(at, 100), Uint8Array.from(bytes.subarray(at + 512, at + 512 + size)))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}
