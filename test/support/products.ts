/** Activations as a kernel with `bytes` takes them: 32 at a time, by their largest magnitude. */
export function asBytes(x: Float32Array, k: number): Float64Array {
  const out = Float64Array.from(x)
  for (let row = 0; row < x.length; row += k) {
    for (let from = row; from < row + k; from += 32) {
      const block = x.subarray(from, Math.min(from + 32, row + k))
      const most = block.reduce((a, b) => Math.max(a, Math.abs(b)), 0)
      const inverse = Math.fround(127 / most)
      block.forEach((v, i) => {
        const scaled = Math.fround(v * inverse)
        const low = Math.floor(scaled)
        const rounded = scaled - low === 0.5 ? low + (Math.abs(low) % 2) : Math.round(scaled)
        out[from + i] = rounded * Math.fround(most / 127)
      })
    }
  }
  return out
}

/** How whole rows become bytes, by a RowBytes; all have -128 as their least byte. */
export const ROW_KINDS = ['affine', 'symmetric', 'tokens', 'affine_bfloat16', 'symmetric_bfloat16', 'symmetric_widened'] as const

const fround = Math.fround

/** The nearest integer, the even one of two. */
function nearest(v: number): number {
  const low = Math.floor(v)
  return v - low === 0.5 ? low + (Math.abs(low) % 2) : Math.round(v)
}

const floats = new Float32Array(1)
const words = new Uint32Array(floats.buffer)

/** The nearest bfloat16. */
function half(v: number): number {
  floats[0] = v
  const bits = words[0]!
  words[0] = (bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000
  return floats[0]
}

/**
 * Activations as a kernel takes them that makes bytes of rows, each with a scale of `eps` or more, as torchao and quantized_decomposed do; those of kinds of
 * bfloat16 are numbers of that dtype.
 */
export function asRows(x: Float32Array, k: number, kind: (typeof ROW_KINDS)[number], eps: number): Float64Array {
  const [least, most] = [-128, 127]
  const within = (v: number): number => Math.min(Math.max(v, least), most)
  const ofScales = kind.endsWith('bfloat16') || kind === 'symmetric_widened' ? half : fround
  const ofQuotients = kind.endsWith('bfloat16') ? half : fround
  const out = Float64Array.from(x)
  for (let row = 0; row < x.length; row += k) {
    const numbers = x.subarray(row, row + k)
    const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)]
    const range = kind.startsWith('symmetric')
      ? ofScales(fround(Math.max(-low, high) / 127.5))
      : ofScales(fround(ofScales(fround(high - low)) / 255))
    const scale = Math.max(range, fround(eps))
    const [fromLow, fromHigh] = [ofQuotients(fround(low / scale)), fround(high / scale)]
    let zero = kind.startsWith('affine') ? least - nearest(fromLow) : 0
    if (kind === 'tokens') {
      const error = fround(fround(fromLow + least) + fround(fromHigh + most))
      zero = error > 0 ? fround(least - fromLow) : fround(most - fromHigh)
    }
    zero = nearest(within(zero))
    const inverse = ofQuotients(fround(1 / scale))
    numbers.forEach((v, i) => {
      const q = kind === 'tokens' ? nearest(v * (1 / scale) + zero) : nearest(ofQuotients(fround(v * inverse))) + zero
      out[row + i] = (within(q) - zero) * scale
    })
  }
  return out
}

/** x [m, k] by w [n, k], transposed, plus a bias [n], in double precision. */
export function productOf(x: ArrayLike<number>, w: ArrayLike<number>, k: number, bias: ArrayLike<number> | null): Float64Array {
  const [m, n] = [x.length / k, w.length / k]
  return Float64Array.from({ length: m * n }, (_, i) => {
    const [r, c] = [Math.floor(i / n), i % n]
    let sum = bias?.[c] ?? 0
    for (let j = 0; j < k; j++) sum += x[r * k + j]! * w[c * k + j]!
    return sum
  })
}

/** The largest difference of numbers; NaN where there are more of one. */
export function furthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0
  for (let i = 0; i < b.length; i++) most = Math.max(most, Math.abs(a[i]! - b[i]!))
  return a.length === b.length ? most : NaN
}
