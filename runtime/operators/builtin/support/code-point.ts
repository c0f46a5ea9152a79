/** The code point whose UTF-8 form begins at byte `at`, or -1. */
export function codePointAt(bytes: string, at: number): number {
  const lead = bytes.charCodeAt(at)
  if (lead < 0x80) return lead
  const length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0
  if (length === 0 || at + length > bytes.length) return -1
  let code = lead & (0xff >> (length + 1))
  for (let k = 1; k < length; k++) {
    const next = bytes.charCodeAt(at + k)
    if ((next & 0xc0) !== 0x80) return -1
    code = (code << 6) | (next & 63)
  }
  const shortest = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000
  // U+DC80 to U+DCFF stand for single bytes, so encoded surrogates must stay bytes
  if (code < shortest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return -1
  return code
}
