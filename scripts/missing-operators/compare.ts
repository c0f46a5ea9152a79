import { fileURLToPath } from 'node:url'
import { similarOperators } from '../../runtime/operators/table/similar.js'
import { findOperator } from '../../runtime/operators/table/registry.js'

/** Root operators of production mobile models: PyTorch's test/mobile/model_test/model_ops.yaml. */
export const PRODUCTION_LIST = fileURLToPath(new URL('../../test/fixtures/production-operators.txt', import.meta.url))

export interface Missing {
  readonly name: string
  readonly similar: readonly string[]
}

/** Instructions of the bytecode that older files call as operators; the linker serves them without a table entry. */
const INSTRUCTIONS = new Set(['prim::RaiseException'])

/** Those of `names` that the operator table lacks. */
export function missingOf(names: readonly string[]): Missing[] {
  return names
    .filter((name) => findOperator(name) === undefined && !INSTRUCTIONS.has(name))
    .map((name) => ({ name, similar: similarOperators(name) }))
}
