/** Deflated data (RFC 1951): few records of a model are, and DecompressionStream gives nothing at once. */

const FAULT = 'invalid deflated data'
/** Bits of a code at most. */
const LONGEST = 15
const LENGTHS = bases([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5], 3)
const DISTANCES = bases([0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13], 1)
/** The length of a copy that has a code of its own. */
const MAX_COPIED = 258
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

interface Bases {
  readonly base: readonly number[]
  readonly extra: readonly number[]
}

function bases(extra: readonly number[], first: number): Bases {
  const base: number[] = []
  let next = first
  for (const bits of extra) {
    base.push(next)
    next += 1 << bits
  }
  return { base, extra }
}

/** A prefix code: how many codes there are of each length, and the symbols in the order of their codes. */
interface Code {
  readonly counts: Uint16Array
  readonly symbols: Uint16Array
}

function codeOf(lengths: Uint8Array): Code {
  const counts = new Uint16Array(LONGEST + 1)
  for (const length of lengths) counts[length]!++
  counts[0] = 0
  const next = new Uint16Array(LONGEST + 2)
  let room = 1
  for (let length = 1; length <= LONGEST; length++) {
    next[length + 1] = next[length]! + counts[length]!
    room = room * 2 - counts[length]!
    if (room < 0) throw new Error(FAULT)
  }
  const symbols = new Uint16Array(lengths.length)
  lengths.forEach((length, symbol) => {
    if (length > 0) symbols[next[length]!++] = symbol
  })
  return { counts, symbols }
}

const FIXED_LITERALS = codeOf(Uint8Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)))
const FIXED_DISTANCES = codeOf(new Uint8Array(30).fill(5))

class Inflater {
  private at = 0
  private bits = 0
  private count = 0
  private length = 0
  private out: Uint8Array

  constructor(
    private readonly from: Uint8Array,
    private readonly most: number,
  ) {
    // the size is what a file says: memory grows with what is really there
    this.out = new Uint8Array(Math.min(most, 4 * from.length + 1024))
  }

  run(): Uint8Array {
    let isLast = false
    while (!isLast) {
      isLast = this.take(1) === 1
      const kind = this.take(2)
      if (kind === 0) this.stored()
      else if (kind === 1) this.coded(FIXED_LITERALS, FIXED_DISTANCES)
      else if (kind === 2) this.dynamic()
      else throw new Error(FAULT)
    }
    return this.out.slice(0, this.length)
  }

  private take(count: number): number {
    while (this.count < count) {
      if (this.at === this.from.length) throw new Error('unexpected end of deflated data')
      this.bits |= this.from[this.at++]! << this.count
      this.count += 8
    }
    const value = this.bits & ((1 << count) - 1)
    this.bits >>>= count
    this.count -= count
    return value
  }

  private symbol({ counts, symbols }: Code): number {
    let code = 0
    let first = 0
    let index = 0
    for (let length = 1; length <= LONGEST; length++) {
      code |= this.take(1)
      const count = counts[length]!
      if (code - count < first) return symbols[index + code - first]!
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw new Error(FAULT)
  }

  /** Room for `count` more bytes. */
  private reserve(count: number): void {
    const needed = this.length + count
    if (needed > this.most) throw new Error(`more than the ${this.most} bytes that were announced`)
    if (needed <= this.out.length) return
    const larger = new Uint8Array(Math.min(this.most, Math.max(needed, 2 * this.out.length)))
    larger.set(this.out)
    this.out = larger
  }

  private stored(): void {
    this.bits = this.count = 0
    const length = this.take(16)
    if ((this.take(16) ^ length) !== 0xffff || this.at + length > this.from.length) throw new Error(FAULT)
    this.reserve(length)
    this.out.set(this.from.subarray(this.at, this.at + length), this.length)
    this.at += length
    this.length += length
  }

  private dynamic(): void {
    const literals = this.take(5) + 257
    const distances = this.take(5) + 1
    const codes = this.take(4) + 4
    if (literals > 286 || distances > 30) throw new Error(FAULT)
    const codeLengths = new Uint8Array(19)
    for (let i = 0; i < codes; i++) codeLengths[CODE_ORDER[i]!] = this.take(3)
    const lengthCode = codeOf(codeLengths)
    const lengths = new Uint8Array(literals + distances)
    for (let i = 0; i < lengths.length;) {
      const symbol = this.symbol(lengthCode)
      if (symbol < 16) {
        lengths[i++] = symbol
        continue
      }
      if (symbol === 16 && i === 0) throw new Error(FAULT)
      const repeated = symbol === 16 ? lengths[i - 1]! : 0
      const times = symbol === 16 ? 3 + this.take(2) : symbol === 17 ? 3 + this.take(3) : 11 + this.take(7)
      if (i + times > lengths.length) throw new Error(FAULT)
      lengths.fill(repeated, i, i + times)
      i += times
    }
    this.coded(codeOf(lengths.subarray(0, literals)), codeOf(lengths.subarray(literals)))
  }

  private coded(literals: Code, distances: Code): void {
    for (;;) {
      const symbol = this.symbol(literals)
      if (symbol === 256) return
      if (symbol < 256) {
        this.reserve(1)
        this.out[this.length++] = symbol
      } else {
        this.copy(symbol - 257, distances)
      }
    }
  }

  private copy(symbol: number, distances: Code): void {
    if (symbol > 28) throw new Error(FAULT)
    const count = symbol === 28 ? MAX_COPIED : LENGTHS.base[symbol]! + this.take(LENGTHS.extra[symbol]!)
    const far = this.symbol(distances)
    if (far > 29) throw new Error(FAULT)
    const distance = DISTANCES.base[far]! + this.take(DISTANCES.extra[far]!)
    if (distance > this.length) throw new Error(FAULT)
    this.reserve(count)
    const { out } = this
    for (let i = 0; i < count; i++, this.length++) out[this.length] = out[this.length - distance]!
  }
}

/** What deflated bytes stand for, `most` bytes at most. Throws where they are damaged or stand for more. */
export function inflateRaw(bytes: Uint8Array, most: number): Uint8Array {
  return new Inflater(bytes, most).run()
}
