import { failAt } from '../error.js'
import { aliasOf, isWritten, type SchemaType } from '../schema/model.js'
import { printType } from '../schema/printer.js'
import type { Operator } from './operator.js'

/** Says of every operator of the library that returns nothing and writes to nothing what it is there for. Throws CodegenError. */
export function checkFacts(operators: readonly Operator[]): void {
  for (const { native, schema, qualifiedName } of operators) {
    const isSilent = schema.returns.length === 0 && !schema.isVarret && !schema.arguments.some((a) => isWritten(a.type))
    if (isSilent && !native.facts.some((fact) => fact === 'side_effect' || fact === 'no_effect' || fact === 'time_dependent'))
      failAt(
        native.source,
        qualifiedName,
        "it returns nothing and writes to nothing: expected 'side_effect' or 'no_effect' among its 'facts'",
      )
  }
}

const isTensor = (type: SchemaType): boolean => type.kind === 'base' && type.name === 'Tensor'
const hasTensors = (type: SchemaType): boolean =>
  isTensor(type) || ((type.kind === 'list' || type.kind === 'optional') && hasTensors(type.inner))

/** Operators that compute each element of their first argument by itself, from numbers besides, and leave it in its place. */
export function pointwiseOfOne(operators: readonly Operator[]): Operator[] {
  return operators.filter(
    ({
      tags,
      native,
      schema: {
        arguments: [first, ...rest],
        returns,
      },
    }) => {
      const isPlain = (type: SchemaType): boolean => isTensor(type) && aliasOf(type) === null
      if (first === undefined || !isPlain(first.type) || rest.some((a) => hasTensors(a.type))) return false
      const keepsOrder = !native.facts.includes('in_rows')
      return (
        keepsOrder &&
        tags.includes('pointwise') &&
        !tags.includes('nondeterministic_seeded') &&
        returns.length === 1 &&
        isPlain(returns[0]!.type)
      )
    },
  )
}

/** Operators that turn their argument into a view of itself, and the operator that makes this view. */
export function inplaceViews(operators: readonly Operator[]): Map<string, string> {
  const argumentsOf = ({ schema }: Operator): string => schema.arguments.map((a) => `${printType(a.type, false)} ${a.name}`).join()
  const isView = ({ schema }: Operator): boolean =>
    [...schema.arguments.slice(0, 1), ...schema.returns].every(({ type }) => aliasOf(type)?.write === false) && schema.returns.length === 1
  return new Map(
    operators.flatMap((inPlace) => {
      if (!inPlace.tags.includes('inplace_view')) return []
      const name = inPlace.schema.name.replace(/_$/, '')
      const view = operators.find((o) => o.schema.name === name && isView(o) && argumentsOf(o) === argumentsOf(inPlace))
      return view === undefined ? [] : [[inPlace.qualifiedName, view.qualifiedName] as const]
    }),
  )
}
