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
