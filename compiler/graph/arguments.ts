import { findOperator } from '../../runtime/operators/table/registry.js'
import type { Arg, OperatorNode } from './graph.js'

/** Places of arguments by operator and name. Operators that replace others have their schemas. */
const places = new Map<string, ReadonlyMap<string, number>>()

function placesOf(op: string): ReadonlyMap<string, number> {
  let found = places.get(op)
  if (found === undefined) {
    const { schema } = findOperator(op)!
    places.set(op, (found = new Map(schema.arguments.map(({ name }, i) => [name, i]))))
  }
  return found
}

/** The argument that the schema of a call calls so. Throws where it has none of this name. */
export function named({ op, args }: OperatorNode, name: string): Arg {
  const place = placesOf(op).get(name)
  if (place === undefined) throw new RangeError(`${op} has no argument ${name}`)
  return args[place]!
}
