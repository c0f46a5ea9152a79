/* Texts in bytes, by what every engine has: pages run the same code and have no Buffer. */

const encoder = /* @__PURE__ */ new TextEncoder()
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true })
const strict = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
/** Arguments of one call. */
const MANY = 1 << 12

/** The UTF-8 of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** The text of UTF-8; what is none becomes U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** The text of UTF-8; undefined where it is none. */
export function strictTextOf(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** A byte for each character, whose lowest 8 bits count. */
export function latin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** A character, U+0000 to U+00FF, for each byte. */
export function latin1TextOf(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += MANY)
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + MANY) as unknown as number[])
  return text
}
