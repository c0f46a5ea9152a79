import type { Operator } from './operator.js'

/** The variants that `autogen` keys ask for. */
export function deriveVariants(_operators: readonly Operator[]): Operator[] {
  return []
}
