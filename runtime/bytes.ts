/* Bytes, whatever they stand for. */

/** The numbers in some bytes. */
export function fieldsOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Whether two arrays hold the same numbers. */
export function areEqual<T extends Uint8Array | Int32Array>(a: T, b: T): boolean {
  const { length } = a
  if (b.length !== length) return false
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

/** The parts behind each other. */
export function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
