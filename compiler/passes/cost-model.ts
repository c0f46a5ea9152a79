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
  const squares = Array.from({ length: kinds }, (_, j) => rows.reduce((sum, row) => sum + row[j]! ** 2, 0))
  const coefficients = new Array<number>(kinds).fill(0)
  // what is left of each sample's relative time, 1
  const rest = new Float64Array(samples.length).fill(1)
  for (let round = 0; round < 4000; round++) {
    for (let j = 0; j < kinds; j++) {
      if (squares[j] === 0) continue
      const step = rows.reduce((sum, row, i) => sum + row[j]! * rest[i]!, 0) / squares[j]!
      const next = Math.max(0, coefficients[j]! + step)
      const change = next - coefficients[j]!
      if (change === 0) continue
      coefficients[j] = next
      for (let i = 0; i < rows.length; i++) rest[i]! -= rows[i]![j]! * change
    }
  }
  return coefficients
}

export function predict(coefficients: readonly number[], features: readonly number[]): number {
  return coefficients.reduce((sum, c, i) => sum + c * features[i]!, 0)
}
