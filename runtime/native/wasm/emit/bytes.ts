const number = new DataView(new ArrayBuffer(8))

/** Bytes that are written one after the other, with the encodings of the WebAssembly binary format. */
export class Bytes {
  private readonly written: number[] = []

  get length(): number {
    return this.written.length
  }

  byte(value: number): this {
    this.written.push(value & 0xff)
    return this
  }

  all(values: ArrayLike<number>): this {
    for (let i = 0; i < values.length; i++) this.written.push(values[i]!)
    return this
  }

  append(other: Bytes): this {
    return this.all(other.written)
  }

  /** LEB128 of a number from 0 to 2^32 - 1. */
  unsigned(value: number): this {
    let rest = value >>> 0
    for (; rest >= 0x80; rest >>>= 7) this.byte((rest & 0x7f) | 0x80)
    return this.byte(rest)
  }

  /** Signed LEB128 of an int32. */
  signed(value: number): this {
    let rest = value | 0
    // bit 6 of the last byte is the sign
    for (; rest < -0x40 || rest > 0x3f; rest >>= 7) this.byte((rest & 0x7f) | 0x80)
    return this.byte(rest & 0x7f)
  }

  float32(value: number): this {
    number.setFloat32(0, value, true)
    for (let i = 0; i < 4; i++) this.byte(number.getUint8(i))
    return this
  }

  /** A name, with its length before it. Names here are ASCII. */
  name(text: string): this {
    this.unsigned(text.length)
    for (const letter of text) this.byte(letter.charCodeAt(0))
    return this
  }

  /** What `write` writes, with its length before it. */
  sized(write: (to: Bytes) => void): this {
    const inner = new Bytes()
    write(inner)
    return this.unsigned(inner.length).append(inner)
  }

  finish(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.written)
  }
}
