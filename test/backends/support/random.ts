import { Tensor } from '../../../src/index.js'

/** The same numbers in every run: a linear congruential generator. */
export class Random {
  constructor(private state: number) {}

  next(): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0
    return this.state / 2 ** 32
  }

  /** One of `values`. */
  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)]!
  }

  /** Numbers in -1..1 that float32 holds exactly. */
  data(n: number): Float64Array {
    return Float64Array.from({ length: n }, () => Math.fround(this.next() * 2 - 1))
  }
}

export const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)

/** A row-major tensor of these values, float32 or float64. */
export function real(values: Float64Array, shape: number[], dtype: 'float32' | 'float64'): Tensor {
  return Tensor.fromStorage(dtype === 'float32' ? Float32Array.from(values) : values, { dtype, shape })
}

/** Largest difference to the expected values, in units of what the dtype's rounding over `depth` additions explains. */
export function distance(found: Tensor, expected: Float64Array, depth: number): number {
  const data = found.data() as Float32Array | Float64Array
  const unit = (found.dtype === 'float32' ? 2 ** -23 : 2 ** -52) * Math.max(4, Math.sqrt(depth) * 4)
  let worst = data.length === expected.length ? 0 : Infinity
  expected.forEach((e, i) => {
    worst = Math.max(worst, Math.abs(data[i]! - e) / unit / Math.max(1, Math.abs(e)))
  })
  return worst
}
