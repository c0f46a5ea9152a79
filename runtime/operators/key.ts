import { HOW_TO_EXTEND } from '../build.js'
import { PtliteError } from '../error.js'
import { isQuantized } from '../tensor/dtype.js'
import type { Stack } from '../tensor/value.js'
import { Tensor } from '../tensor/tensor.js'

/** Backend keys, one bit each; a higher bit has priority. */
export const CPU = 1
export const QuantizedCPU = 2

const NAMES: Record<number, string> = { [CPU]: 'CPU', [QuantizedCPU]: 'QuantizedCPU' }

/** The key of a tensor; none for an absent one. */
export function keyOf(tensor: Tensor | null): number {
  return tensor === null ? 0 : isQuantized(tensor.type) ? QuantizedCPU : CPU
}

/** The keys of all tensors of a list. */
export function keyOfList(tensors: readonly (Tensor | null)[] | null): number {
  let keys = 0
  if (tensors !== null) for (let i = 0; i < tensors.length; i++) keys |= keyOf(tensors[i]!)
  return keys
}

/** The key with priority in a set of keys; CPU for an empty set, as factories have. */
export function highestKey(keys: number): number {
  return keys >= QuantizedCPU ? QuantizedCPU : CPU
}

/** The operator has no kernel for these arguments in this build. */
export function noBackend(operator: string, key: number): never {
  const name = NAMES[key] ?? String(key)
  throw new PtliteError('MISSING_OPERATOR', `${operator} has no kernel for the ${name} backend in this build${HOW_TO_EXTEND}`)
}

/** Throws where a set of keys has that of quantized tensors, for an operator with a CPU kernel alone. */
export function refuseQuantized(operator: string, keys: number): void {
  if (keys >= QuantizedCPU) noBackend(operator, QuantizedCPU)
}

/** The key with priority among the `count` values on top of the stack, tensors in lists included. */
export function keyOfTop(stack: Stack, count: number): number {
  let keys = 0
  for (let i = stack.top - count; i < stack.top; i++) {
    const value = stack.values[i]!
    if (value instanceof Tensor) keys |= keyOf(value)
    else if (Array.isArray(value)) for (const item of value) if (item instanceof Tensor) keys |= keyOf(item)
  }
  return highestKey(keys)
}
