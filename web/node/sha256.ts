/** Fractional bits of roots of the first primes (FIPS 180-4). */
const PRIMES = primes(64)
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)))
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))

function primes(count: number): number[] {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}

function fraction(root: number): number {
  return ((root % 1) * 2 ** 32) | 0
}

const turned = (x: number, by: number): number => (x >>> by) | (x << (32 - by))

/** SHA-256, for what is known at once. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = START.slice()
  const words = new Int32Array(64)
  const blocks = padded(bytes)
  for (let at = 0; at < blocks.byteLength; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = blocks.getInt32(at + 4 * i)
    for (let i = 16; i < 64; i++) {
      const [x, y] = [words[i - 15]!, words[i - 2]!]
      const low = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)
      const high = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10)
      words[i] = words[i - 16]! + low + words[i - 7]! + high
    }
    mix(state, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, i) => digest.setInt32(4 * i, word))
  return new Uint8Array(digest.buffer)
}

function padded(bytes: Uint8Array): DataView {
  const whole = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  whole.set(bytes)
  whole[bytes.length] = 0x80
  const view = new DataView(whole.buffer)
  view.setBigUint64(whole.length - 8, BigInt(bytes.length) * 8n)
  return view
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + words[i]!) | 0
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = state[i]! + word))
}
