import { decodeSchema } from './decode-schema.js'
import { functionAt, wrapperAt } from './generated/functions.js'
import * as table from './generated/table.js'
import { partsAt } from './reach.js'
import type { OperatorSchema, UnboxedFunction, Wrapper } from './schema.js'

/* The library's own operators, by their numbers: positions in the generated table. The built package has it in two parts (scripts/parts). */

// split at first use
let split: readonly string[] | undefined

function names(): readonly string[] {
  return (split ??= table.names === '' ? [] : table.names.split(' '))
}

/** How many there are. */
export function operatorTotal(): number {
  return names().length
}

/** The number of the operator with this name, -1 for none. */
export function numberOf(name: string): number {
  const sorted = names()
  let low = 0
  let high = sorted.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = sorted[middle]!
    if (found === name) return middle
    if (found < name) low = middle + 1
    else high = middle - 1
  }
  return -1
}

export function nameOf(number: number): string {
  return names()[number]!
}

export function functionOf(number: number): UnboxedFunction {
  return functionAt(table.functionOf[number]!)
}

export function wrapperOf(number: number): Wrapper {
  return wrapperAt(table.wrapperOf[number]!)
}

export function schemaOf(number: number): OperatorSchema {
  return decodeSchema(number)
}

/** The parts of the library that the operator may come to, where they have to be waited for. */
export function partsOf(number: number): readonly string[] {
  return partsAt(number)
}
