import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { CodegenError } from './error.js'
import type { Operator } from './model/operator.js'

/**
 * The qualified names in common_operators.yaml, which has the names of each namespace in one text. Throws CodegenError for one that no operator has.
 */
export function readCommonOperators(path: string, operators: readonly Operator[]): ReadonlySet<string> {
  const known = new Set(operators.map(({ qualifiedName }) => qualifiedName))
  const byNamespace = parse(readFileSync(path, 'utf8')) as Readonly<Record<string, string>>
  const names = Object.entries(byNamespace).flatMap(([namespace, list]) => list.split(/\s+/).map((name) => `${namespace}::${name}`))
  const unknown = names.filter((name) => !known.has(name))
  if (unknown.length > 0) throw new CodegenError(`${path}: no operator ${unknown.join(', ')}`)
  return new Set(names)
}
