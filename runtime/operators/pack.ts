import { PtliteError } from '../error.js'
import { Float } from '../tensor/scalar.js'
import type { Stack } from '../tensor/stack.js'
import type { Value } from '../tensor/value.js'
import { describe } from './describe.js'
import { operatorNameAt } from './names.js'

/** Puts several results on the stack from `base` on; returns the new top. */
export function pack(values: Value[], base: number, results: readonly Value[]): number {
  for (let i = 0; i < results.length; i++) values[base + i] = results[i]!
  return base + results.length
}

export function boxFloat(value: number): Float {
  return new Float(value)
}

export function boxFloatOrNull(value: number | null): Float | null {
  return value === null ? null : new Float(value)
}

export function boxFloats(values: readonly number[]): Float[] {
  return values.map((value) => new Float(value))
}

/** Takes the number of inputs of a vararg operator off the stack; `fixed` of them are named by the schema. */
export function countVarargs(stack: Stack, fixed: number, operator: number): number {
  const count = stack.values[--stack.top]
  if (typeof count !== 'number' || count < fixed || count > stack.top) {
    throw new PtliteError('INVALID_ARGUMENT', `${operatorNameAt(operator)}: expected at least ${fixed} inputs, found ${describe(count)}`)
  }
  return count
}
