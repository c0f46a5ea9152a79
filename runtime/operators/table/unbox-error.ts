import { PtliteError } from '../../error.js'
import type { Value } from '../../tensor/value.js'
import { describe } from '../../tensor/describe.js'
import { operatorNameAt, schemaAt } from './names.js'

let running = -1

/** Says whose arguments are being unboxed, for the errors below. */
export function noteOperator(operator: number): void {
  running = operator
}

/** The name of that operator. */
export function runningOperator(): string {
  return operatorNameAt(running)
}

/** Throws INVALID_ARGUMENT naming operator, argument, expected type and what was found; `element` is the culprit in a list. */
export function wrongType(found: Value, position: number, element?: number): never {
  const argument = running < 0 ? undefined : schemaAt(running).arguments[position]
  const name = argument?.name ?? `argument ${position}`
  const culprit = element === undefined ? describe(found) : `${describe((found as Value[])[element])} at index ${element}`
  const text = `${operatorNameAt(running)}: '${name}' must be ${argument?.type ?? 'another type'}, found ${culprit}`
  throw new PtliteError('INVALID_ARGUMENT', text)
}

/** Throws MISSING_OPERATOR: the operator has a kernel for plain tensors only. */
export function noQuantizedKernel(found: Value, position: number): never {
  const name = running < 0 ? `argument ${position}` : (schemaAt(running).arguments[position]?.name ?? `argument ${position}`)
  const text = `${operatorNameAt(running)} has no kernel for the QuantizedCPU backend in this build, and '${name}' is ${describe(found)}; use dequantize`
  throw new PtliteError('MISSING_OPERATOR', text)
}

export function tooFewInputs(expected: number, found: Value): never {
  throw new PtliteError('INVALID_ARGUMENT', `${operatorNameAt(running)}: expected at least ${expected} inputs, found ${describe(found)}`)
}
