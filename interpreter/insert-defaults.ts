import type { LinkedOperator } from '../program/linked.js'
import type { Stack } from '../runtime/tensor/value.js'
import { noteUse } from '../runtime/traced-parts.js'
import * as features from '../runtime/features.js'
import { absent } from '../runtime/error.js'

/** Puts the defaults of arguments that code leaves out on the stack, before those for `out`. */
export function insertDefaults(op: LinkedOperator, stack: Stack): void {
  if (!features.defaults) throw absent('the default of an argument', 'MISSING_OPERATOR')
  noteUse('defaults')
  const { values } = stack
  const defaults = op.defaults!
  const n = defaults.length
  const first = stack.top - op.outs
  for (let i = stack.top - 1; i >= first; i--) values[i + n] = values[i]!
  // operators may keep or change a list
  for (let i = 0; i < n; i++) {
    const value = defaults[i]!
    values[first + i] = Array.isArray(value) ? value.slice() : value
  }
  stack.top += n
}
