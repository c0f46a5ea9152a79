import { deviceOf } from '../../program/file-error.js'
import { PtliteError } from '../../runtime/error.js'
import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { newStack, push, type Value as Constant } from '../../runtime/tensor/value.js'
import type { Value } from './graph.js'
import { ANY, isSubtype, NONE, UNKNOWN } from './types.js'

/* What is known of a call without running the program. */

/** Operators on numbers, bools and texts that give a number or bool. */
const COMPUTED: ReadonlySet<string> = new Set(
  'eq ne lt le gt ge __and__ __or__ __xor__ __not__ add sub mul neg floordiv remainder Bool Int Float'
    .split(' ')
    .map((name) => `aten::${name}`),
)

/** Devices, and `is` of values that are None, or cannot be. */
export function knownResult(name: string, [a, b]: readonly Value[]): Constant | undefined {
  if (name === 'aten::device' && b === undefined && typeof a?.constant === 'string') return deviceOf(a.constant)
  if (name === 'aten::__not__' && typeof a?.constant === 'boolean') return !a.constant
  if ((name !== 'aten::__is__' && name !== 'aten::__isnot__') || a === undefined || b === undefined) return undefined
  const [first, second] = [isNone(a), isNone(b)]
  if (first === undefined || second === undefined || (!first && !second)) return undefined
  return (first && second) === (name === 'aten::__is__')
}

/** undefined where a value may be None or something else. */
function isNone(value: Value): boolean | undefined {
  if (value.constant !== undefined) return value.type === UNKNOWN ? undefined : value.constant === null
  return isSubtype(NONE, value.type) || value.type === ANY || value.type === UNKNOWN ? undefined : false
}

/** What an operator gives for these inputs; undefined where that is not known. */
export type Compute = (entry: OperatorEntry, inputs: readonly Value[]) => Constant | undefined

/** What an operator gives for constants, where that is a number or bool. What ends in an error is left to the program. */
export function computed(entry: OperatorEntry, inputs: readonly Value[]): Constant | undefined {
  const { qualifiedName, schema } = entry
  if (!COMPUTED.has(qualifiedName.split('.', 1)[0]!) || schema.arguments.length !== inputs.length || inputs.length === 0) return undefined
  const stack = newStack()
  for (const { constant } of inputs) {
    if (!isPlain(constant)) return undefined
    push(stack, constant!)
  }
  try {
    entry.call(stack)
  } catch (error) {
    if (error instanceof PtliteError) return undefined
    throw error
  }
  const result = stack.values[0]
  return stack.top === 1 && isPlain(result) ? result : undefined
}

function isPlain(value: Constant | undefined): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean' ||
    value instanceof Float ||
    value instanceof Complex
  )
}
