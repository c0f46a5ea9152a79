/** What the library uses of Node's Buffer. */
type Encoding = 'utf8' | 'latin1' | 'hex' | 'base64'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { fatal: true })
const encoder = new TextEncoder()
/** Arguments of one call. */
const MANY = 1 << 12

class Bytes extends Uint8Array {
  static alloc(size: number, fill = 0): Bytes {
    const bytes = new Bytes(size)
    return fill === 0 ? bytes : bytes.fill(fill)
  }

  static allocUnsafeSlow(size: number): Bytes {
    return new Bytes(size)
  }

  static override from(source: unknown, second?: unknown, length?: number): Bytes {
    if (typeof source === 'string') return ofText(source, second as Encoding | undefined)
    if (source instanceof ArrayBuffer || isShared(source)) return new Bytes(source as ArrayBuffer, second as number | undefined, length)
    const tag = Object.prototype.toString.call(source)
    // of another realm
    if (tag === '[object ArrayBuffer]') return new Bytes(source as ArrayBuffer, second as number | undefined, length)
    return new Bytes(source as ArrayLike<number>)
  }

  static override of(...numbers: number[]): Bytes {
    return new Bytes(numbers)
  }

  static concat(parts: readonly Uint8Array[], length = parts.reduce((sum, part) => sum + part.length, 0)): Bytes {
    const whole = new Bytes(length)
    let at = 0
    for (const part of parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const shorter = Math.min(a.length, b.length)
    for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1
    return Math.sign(a.length - b.length)
  }

  static byteLength(text: string): number {
    return encoder.encode(text).length
  }

  static isBuffer(value: unknown): boolean {
    return value instanceof Bytes
  }

  #view: DataView | undefined

  private get view(): DataView {
    return (this.#view ??= new DataView(this.buffer, this.byteOffset, this.byteLength))
  }

  override subarray(start?: number, end?: number): Bytes {
    return super.subarray(start, end) as Bytes
  }

  override toString(encoding: string = 'utf8', start = 0, end = this.length): string {
    const bytes = start === 0 && end === this.length ? this : this.subarray(start, end)
    switch (encoding) {
      case 'latin1':
        return latin1(bytes)
      case 'hex':
        return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
      case 'base64':
        return btoa(latin1(bytes))
      default:
        return decoder.decode(isShared(bytes.buffer) ? Uint8Array.from(bytes) : bytes)
    }
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && Bytes.compare(this, other) === 0
  }

  copy(to: Uint8Array, at = 0, start = 0, end = this.length): number {
    to.set(this.subarray(start, end), at)
    return end - start
  }

  override indexOf(what: number | Uint8Array, from = 0): number {
    if (typeof what === 'number') return super.indexOf(what, from)
    for (let at = super.indexOf(what[0]!, from); at >= 0; at = super.indexOf(what[0]!, at + 1))
      if (what.every((byte, i) => this[at + i] === byte)) return at
    return -1
  }

  readUInt8(at = 0): number {
    return this.view.getUint8(at)
  }

  readInt8(at = 0): number {
    return this.view.getInt8(at)
  }

  readUInt16LE(at = 0): number {
    return this.view.getUint16(at, true)
  }

  readUInt32LE(at = 0): number {
    return this.view.getUint32(at, true)
  }

  readUInt32BE(at = 0): number {
    return this.view.getUint32(at)
  }

  readInt32LE(at = 0): number {
    return this.view.getInt32(at, true)
  }

  readBigInt64LE(at = 0): bigint {
    return this.view.getBigInt64(at, true)
  }

  readBigUInt64LE(at = 0): bigint {
    return this.view.getBigUint64(at, true)
  }

  readFloatLE(at = 0): number {
    return this.view.getFloat32(at, true)
  }

  readDoubleLE(at = 0): number {
    return this.view.getFloat64(at, true)
  }

  readDoubleBE(at = 0): number {
    return this.view.getFloat64(at)
  }

  writeUInt16LE(value: number, at = 0): number {
    this.view.setUint16(at, value, true)
    return at + 2
  }

  writeUInt32LE(value: number, at = 0): number {
    this.view.setUint32(at, value, true)
    return at + 4
  }

  writeInt32LE(value: number, at = 0): number {
    this.view.setInt32(at, value, true)
    return at + 4
  }

  writeBigInt64LE(value: bigint, at = 0): number {
    this.view.setBigInt64(at, value, true)
    return at + 8
  }

  writeBigUInt64LE(value: bigint, at = 0): number {
    this.view.setBigUint64(at, value, true)
    return at + 8
  }

  writeDoubleBE(value: number, at = 0): number {
    this.view.setFloat64(at, value)
    return at + 8
  }
}

function isShared(source: unknown): boolean {
  return typeof SharedArrayBuffer !== 'undefined' && source instanceof SharedArrayBuffer
}

function ofText(text: string, encoding: Encoding = 'utf8'): Bytes {
  switch (encoding) {
    case 'latin1':
      return ofCodes(text)
    case 'base64':
      return ofCodes(atob(text))
    case 'hex':
      return new Bytes((text.match(/../g) ?? []).map((pair) => parseInt(pair, 16)))
    default: {
      const { buffer, byteOffset, length } = encoder.encode(text)
      return new Bytes(buffer, byteOffset, length)
    }
  }
}

function ofCodes(text: string): Bytes {
  const bytes = new Bytes(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += MANY) text += String.fromCharCode(...bytes.subarray(at, at + MANY))
  return text
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(isShared(bytes.buffer) ? Uint8Array.from(bytes) : bytes)
    return true
  } catch {
    return false
  }
}

export const constants = { MAX_LENGTH: 2 ** 32 }
export { Bytes as Buffer }
