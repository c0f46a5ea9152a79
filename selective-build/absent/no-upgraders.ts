/* Of builds none of whose operators ever had another meaning. */

export function upgradedOperator(): undefined {
  return undefined
}

export function upgraderFor(): undefined {
  return undefined
}
