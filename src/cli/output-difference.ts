import { type Output, Tensor } from '../index.js'

/** How far results lie from exact ones. */
export interface Difference {
  /** Largest distance of two numbers. */
  readonly largest: number
  /** Root of the sum of squared distances, by that of the exact numbers squared. */
  readonly relative: number
  readonly cosine: number
}

/** How probabilities over the last dimension of a result differ. */
export interface TokenDifference {
  /** Share of rows whose largest number is in the same place. */
  readonly top1: number
  /** Mean Kullback-Leibler divergence of the softmax of rows from that of the exact ones, in nats. */
  readonly divergence: number
}

/** A tensor of floats, as numbers. */
export interface Floats {
  readonly shape: readonly number[]
  readonly data: Float32Array | Float64Array
}

/** The float32 and float64 tensors of a result, in their order. */
export function floatsOf(value: Output): Floats[] {
  if (value instanceof Tensor) {
    if (value.dtype !== 'float32' && value.dtype !== 'float64') return []
    return [{ shape: [...value.shape], data: value.data() as Float32Array | Float64Array }]
  }
  if (Array.isArray(value)) return value.flatMap((item) => floatsOf(item))
  return value instanceof Map ? [...value.values()].flatMap((item) => floatsOf(item)) : []
}

/** The difference of two results of one form, all numbers of their tensors together. */
export function differenceOf(found: readonly Floats[], exact: readonly Floats[]): Difference {
  let [largest, error, square, other, product] = [0, 0, 0, 0, 0]
  exact.forEach(({ data }, t) => {
    const numbers = found[t]!.data
    for (let i = 0; i < data.length; i++) {
      const [a, b] = [numbers[i]!, data[i]!]
      const distance = Math.abs(a - b)
      // what is no number in one of them alone stays so
      const isSame = a === b || (Number.isNaN(a) && Number.isNaN(b))
      if (!isSame && !Number.isNaN(largest) && !(distance <= largest)) largest = distance
      error += distance * distance
      square += b * b
      other += a * a
      product += a * b
    }
  })
  const scale = Math.sqrt(square) * Math.sqrt(other)
  return { largest, relative: square === 0 ? Math.sqrt(error) : Math.sqrt(error / square), cosine: scale === 0 ? 1 : product / scale }
}

/** The same of the first tensor as scores of tokens in its last dimension; null where it has none. */
export function tokenDifference(found: readonly Floats[], exact: readonly Floats[]): TokenDifference | null {
  const [a, b] = [found[0], exact[0]]
  const width = b?.shape.at(-1) ?? 0
  if (a === undefined || b === undefined || width < 2 || b.data.length === 0) return null
  const rows = b.data.length / width
  let [same, divergence] = [0, 0]
  for (let from = 0; from < b.data.length; from += width) {
    const [p, q] = [b, a].map(({ data }) => logSoftmax(data.subarray(from, from + width))) as [Float64Array, Float64Array]
    if (highest(p) === highest(q)) same++
    divergence += p.reduce((sum, value, i) => sum + (value === -Infinity ? 0 : Math.exp(value) * (value - q[i]!)), 0)
  }
  return { top1: same / rows, divergence: divergence / rows }
}

function logSoftmax(row: Float32Array | Float64Array): Float64Array {
  const numbers = Float64Array.from(row)
  const most = numbers.reduce((a, b) => Math.max(a, b), -Infinity)
  const total = most + Math.log(numbers.reduce((sum, value) => sum + Math.exp(value - most), 0))
  return numbers.map((value) => value - total)
}

const highest = (row: Float64Array): number => row.reduce((best, value, i) => (value > row[best]! ? i : best), 0)
