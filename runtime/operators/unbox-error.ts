import { PtliteError } from '../error.js'
import type { Value } from '../tensor/value.js'
import { describe } from './describe.js'
import { operatorNameAt, schemaAt } from './names.js'

/** Throws INVALID_ARGUMENT naming operator, argument, expected type and what was found; `element` is the culprit in a list. */
export function wrongType(found: Value, operator: number, position: number, element?: number): never {
  const argument = schemaAt(operator).arguments[position]
  const name = argument?.name ?? `argument ${position}`
  const culprit = element === undefined ? describe(found) : `${describe((found as Value[])[element])} at index ${element}`
  throw new PtliteError(
    'INVALID_ARGUMENT',
    `${operatorNameAt(operator)}: '${name}' must be ${argument?.type ?? 'another type'}, found ${culprit}`,
  )
}
