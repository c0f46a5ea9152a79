/** Reads the encodings of the WebAssembly binary format, one value after the other. */
export class Reader {
  constructor(
    readonly bytes: Uint8Array,
    public at = 0,
    readonly end = bytes.length,
  ) {}

  byte(): number {
    return this.bytes[this.at++]!
  }

  /** Unsigned LEB128. */
  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  /** Signed LEB128 of an int32. */
  signed(): number {
    let value = 0
    let shift = 0
    let byte: number
    do {
      byte = this.byte()
      value |= (byte & 127) << shift
      shift += 7
    } while (byte >= 128)
    return shift < 32 && (byte & 64) !== 0 ? value | (-1 << shift) : value
  }

  take(bytes: number): Uint8Array {
    this.at += bytes
    return this.bytes.subarray(this.at - bytes, this.at)
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.number()))
  }

  list<T>(item: (index: number) => T): T[] {
    return Array.from({ length: this.number() }, (_, i) => item(i))
  }
}
