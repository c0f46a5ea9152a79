import { missingOperators } from '../runtime/operators/table/missing-operator.js'
import { moreOperators, operatorsNamed } from '../runtime/operators/table/lookup.js'
import { findOperator } from '../runtime/operators/table/registry.js'

/** Waits for the operators of these names. Rejects with MISSING_OPERATOR for unknown ones. */
export async function operatorsReady(names: readonly string[]): Promise<void> {
  await operatorsNamed(names)
  const missing = names.filter((name) => findOperator(name) === undefined)
  if (missing.length === 0) return
  // similar names are looked for among all
  await moreOperators.ready()
  throw missingOperators(missing)
}
