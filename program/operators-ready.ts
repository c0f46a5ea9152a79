import type { Waiting } from '../runtime/chunk.js'
import { operatorsNamed } from '../runtime/operators/table/lookup.js'
import type { FunctionCode } from './code.js'
import { PROMOTED } from './generated/opcodes.js'
import { upgraderFor } from './upgraders.js'

/** Waits for the operators that the functions of a file may come to. */
export function operatorsReady(codes: readonly FunctionCode[], operatorVersion: number): Waiting {
  return operatorsNamed(namesIn(codes, operatorVersion))
}

function* namesIn(codes: readonly FunctionCode[], operatorVersion: number): Generator<string> {
  for (const { operators, code } of codes) {
    for (const { name, overload } of operators) {
      const qualifiedName = overload === '' ? name : `${name}.${overload}`
      yield* upgraderFor(qualifiedName, operatorVersion)?.uses ?? [qualifiedName]
    }
    for (let at = 0; at < code.length; at += 3) {
      const stood = PROMOTED[code[at]!]
      if (stood !== undefined) yield stood
    }
  }
}
