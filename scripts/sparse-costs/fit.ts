/** One measured run: what there was to do, in numbers of several kinds, and how long it took. */
export interface Sample {
  readonly features: readonly number[]
  readonly time: number
}

/**
 * Coefficients c >= 0 for which features · c comes closest to the times, by relative error squared: non-negative least squares by
 * coordinate descent. Linear, so that a time is a sum of what each kind of work costs.
 */
export function fit(samples: readonly Sample[]): number[] {
  const kinds = samples[0]!.features.length
  const rows = samples.map(({ features, time }) => features.map((f) => f / time))
  const numbers = [...Array(kinds).keys()]
  // the normal equations: products c = sums
  const products = numbers.map((i) => numbers.map((j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)))
  const sums = numbers.map((j) => rows.reduce((sum, row) => sum + row[j]!, 0))
  const coefficients = new Array<number>(kinds).fill(0)
  for (let round = 0; round < 4000; round++) {
    for (let j = 0; j < kinds; j++) {
      const row = products[j]!
      if (row[j] === 0) continue
      let rest = sums[j]!
      for (let i = 0; i < kinds; i++) rest -= row[i]! * coefficients[i]!
      coefficients[j] = Math.max(0, coefficients[j]! + rest / row[j]!)
    }
  }
  return coefficients
}
