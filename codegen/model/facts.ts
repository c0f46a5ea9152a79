import { failAt } from '../error.js'
import { aliasOf, isWritten, type SchemaType } from '../schema/model.js'
import { printType } from '../schema/printer.js'
import type { Operator } from './operator.js'

/** PyTorch's tags (2.13's tags.yaml). */
export const TAGS = (
  'inplace_view pt2_compliant_tag view_copy dynamic_output_shape data_dependent_output generated nondeterministic_seeded nondeterministic_bitwise ' +
  'needs_exact_strides needs_contiguous_strides needs_fixed_stride_order flexible_layout core pointwise maybe_aliasing_or_mutating ' +
  'cudagraph_unsafe reduction inplace out out_variant'
).split(' ')

/** What the recorder of models goes by and PyTorch has no tag for. */
export const FACTS = [
  'time_dependent', // its result depends on when it is called
  'side_effect', // it returns nothing, and does something that a replay would not repeat
  'no_effect', // it returns nothing and leaves nothing behind: a replay may leave it out
  'inner_reads', // it reads tensors for numbers of its own, which decide neither shapes nor dtypes of its results
  'uninitialized', // its result holds whatever was in memory
  'reads_by_strides', // it reads memory by strides that it is told, and returns no view of it
  'writes_in_training', // it writes to its arguments where its argument `training` is true
  'moves', // its results are its arguments
  'in_rows', // its result lies in rows, whatever the order of what it computes from
] as const
export type Fact = (typeof FACTS)[number]

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
