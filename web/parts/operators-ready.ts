import type { FunctionCode } from '../../program/code.js'
import { PROMOTED } from '../../program/generated/opcodes.js'
import { upgraderFor } from '../../program/upgraders.js'
import { addedIndex } from '../../runtime/operators/table/added.js'
import { numberOf, partsOf } from '../../runtime/operators/table/lookup.js'
import { loadParts, whenLoaded } from './part.js'

/** Stands for program/operators-ready.ts in the library for browsers. */
export async function operatorsReady(codes: readonly FunctionCode[], operatorVersion: number): Promise<void> {
  // whoever looks for one that there is not says so
  await namedReady(operatorNames(codes, operatorVersion))
}

/** Waits for the operators of these names, and gives those that there are not. */
export async function namedReady(names: Iterable<string>): Promise<string[]> {
  const missing: string[] = []
  const parts = new Set<string>()
  for (const name of names) {
    // what is not among usual ones is in a table that is a part of its own
    const number = await whenLoaded(() => numberOf(name))
    if (number >= 0) for (const part of await whenLoaded(() => partsOf(number))) parts.add(part)
    else if (addedIndex(name) === undefined) missing.push(name)
  }
  await loadParts(parts)
  return missing
}

/** Names of all operators that the functions of a file may come to. */
function operatorNames(codes: readonly FunctionCode[], operatorVersion: number): Set<string> {
  const names = new Set<string>()
  for (const { operators, code } of codes) {
    for (const { name, overload } of operators) {
      const qualifiedName = overload === '' ? name : `${name}.${overload}`
      for (const used of upgraderFor(qualifiedName, operatorVersion)?.uses ?? [qualifiedName]) names.add(used)
    }
    for (let at = 0; at < code.length; at += 3) {
      const stood = PROMOTED[code[at]!]
      if (stood !== undefined) names.add(stood)
    }
  }
  return names
}
