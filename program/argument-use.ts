import { MOVES } from '../runtime/operators/table/generated/moves.js'
import type { OperatorEntry } from '../runtime/operators/table/registry.js'
import { ArgumentUse } from './linked.js'
import * as features from '../runtime/features.js'

/** What becomes of an operator's arguments. */
export function useOf({ qualifiedName, schema }: OperatorEntry): ArgumentUse {
  if (!features.containers) return ArgumentUse.read
  if (MOVES.includes(qualifiedName)) return ArgumentUse.move
  // operators on containers of anything may store an argument or hand out an element
  const keeps = schema.arguments.some((arg) => /^(t|tKey|tVal|Any|AnyListType|AnyClassType)\b|^Dict\(|^\(/.test(arg.type))
  return keeps ? ArgumentUse.keep : ArgumentUse.read
}
