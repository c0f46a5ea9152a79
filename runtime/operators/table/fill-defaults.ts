import { PtliteError } from '../../error.js'
import type { Stack } from '../../tensor/value.js'
import type { OperatorEntry } from './registry.js'

/**
 * Completes a call: `given` arguments are on the stack, the `out` arguments last; the defaults of those left out go
 * before the outs. Throws INVALID_ARGUMENT for a missing argument without default and for too many.
 */
export function fillDefaults(stack: Stack, entry: OperatorEntry, given: number): void {
  const { arguments: args, isVararg } = entry.schema
  if (given === args.length || isVararg) return
  if (given > args.length) {
    throw new PtliteError('INVALID_ARGUMENT', `${entry.qualifiedName}: expected at most ${args.length} arguments, found ${given}`)
  }
  let outs = 0
  while (outs < args.length && args[args.length - 1 - outs]!.isOut) outs++
  if (outs > given) missing(entry, args.length - outs + given)
  const { values } = stack
  const omitted = args.length - given
  const firstOut = stack.top - outs
  for (let i = outs - 1; i >= 0; i--) values[firstOut + omitted + i] = values[firstOut + i]!
  for (let i = 0; i < omitted; i++) {
    const value = args[given - outs + i]!.defaultValue
    if (value === undefined) missing(entry, given - outs + i)
    // operators may keep or change a list
    values[firstOut + i] = Array.isArray(value) ? value.slice() : value
  }
  stack.top += omitted
}

function missing(entry: OperatorEntry, position: number): never {
  const argument = entry.schema.arguments[position]!
  throw new PtliteError('INVALID_ARGUMENT', `${entry.qualifiedName}: argument '${argument.name}' (${argument.type}) is missing`)
}
