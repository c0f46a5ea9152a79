import { chunk, type Waiting } from '../../chunk.js'
import * as counts from './generated/counts.js'
import type { OperatorTable } from './operator-table.js'
import type { OperatorSchema, UnboxedFunction, Wrapper } from './schema.js'

/*
 * The library's own operators, by numbers: positions in the first table, which has what most programs call, and after these positions in others, each of which is
 * loaded for the first name that may be in it.
 */

/** Operators that most programs call. */
export const firstOperators = chunk<OperatorTable>('operators')
/** Operators that the compiler writes. */
export const compiledOperators = chunk<OperatorTable>('compiler')
/** All others. */
export const moreOperators = chunk<OperatorTable>('more-operators')

const COMPILED = 'ptlite::'
const FIRST_COUNT = counts.firstOperators
const COMPILED_END = FIRST_COUNT + counts.compiledOperators

/** How many there are. */
export const operatorTotal = COMPILED_END + counts.moreOperators

/** Waits for the operators of these names. */
export function operatorsNamed(names: Iterable<string>): Waiting {
  const tables = [firstOperators, compiledOperators, moreOperators]
  return tables.every((table) => table.isCallable()) ? undefined : tablesOf(names)
}

async function tablesOf(names: Iterable<string>): Promise<void> {
  await firstOperators.ready()
  const others = [...names].filter((name) => firstOperators().positionOf(name) < 0)
  if (others.some((name) => name.startsWith(COMPILED))) await compiledOperators.ready()
  if (others.length > 0) await moreOperators.ready()
}

/** The number of the operator with this name, -1 for none. */
export function numberOf(name: string): number {
  const position = firstOperators().positionOf(name)
  if (position >= 0) return position
  if (name.startsWith(COMPILED) && counts.compiledOperators > 0) {
    const compiled = compiledOperators().positionOf(name)
    if (compiled >= 0) return FIRST_COUNT + compiled
  }
  const other = counts.moreOperators === 0 ? -1 : moreOperators().positionOf(name)
  return other < 0 ? -1 : COMPILED_END + other
}

/** The numbers of all whose names begin so, in the order of their names. */
export function numbersFrom(start: string): number[] {
  const within = (some: OperatorTable, before: number): number[] => {
    const numbers: number[] = []
    for (let at = some.firstFrom(start); some.names[at]?.startsWith(start) === true; at++) numbers.push(before + at)
    return numbers
  }
  const numbers = within(firstOperators(), 0)
  if (start.startsWith(COMPILED) && counts.compiledOperators > 0) numbers.push(...within(compiledOperators(), FIRST_COUNT))
  if (counts.moreOperators > 0) numbers.push(...within(moreOperators(), COMPILED_END))
  return numbers.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/** The table of a number, and the position there. */
function placeOf(number: number): [OperatorTable, number] {
  if (number < FIRST_COUNT) return [firstOperators(), number]
  return number < COMPILED_END ? [compiledOperators(), number - FIRST_COUNT] : [moreOperators(), number - COMPILED_END]
}

export function nameOf(number: number): string {
  const [some, position] = placeOf(number)
  return some.names[position]!
}

export function functionOf(number: number): UnboxedFunction {
  const [some, position] = placeOf(number)
  return some.functionAt(position)
}

export function wrapperOf(number: number): Wrapper {
  const [some, position] = placeOf(number)
  return some.wrapperAt(position)
}

export function schemaOf(number: number): OperatorSchema {
  const [some, position] = placeOf(number)
  return some.schemaAt(position)
}
