import { scalarTypeOf, layoutOf, STRIDED } from './enums.js'
import type { Expression } from '../exported/expression.js'
import { damaged, MAX_RANK, unsupported } from '../../program/file-error.js'
import type { Json } from '../exported/json.js'
import { countOf, listOf, objectOf, textOf, variantOf } from '../exported/json-values.js'
import { parseSympy } from '../exported/parse-expression.js'

/** A tensor as the schema's TensorMeta describes it. Sizes are null where the expression is of an unknown form. */
export interface TensorMeta {
  /** c10::ScalarType number. */
  readonly scalarType: number
  readonly sizes: readonly (Expression | null)[]
  readonly strides: readonly (Expression | null)[]
  /** In elements. */
  readonly offset: Expression | null
}

/** What the file says of a tensor, where it is known. */
export type MetaOf = (name: string) => TensorMeta | undefined

export function readTensorMeta(json: Json | undefined): TensorMeta {
  const fields = objectOf(json, 'the description of a tensor')
  const layout = layoutOf(countOf(fields.get('layout') ?? 7, 'a layout'))
  if (layout !== STRIDED) throw unsupported('a sparse tensor; expected strided ones')
  const sizes = listOf(fields.get('sizes')).map(readSize)
  const strides = listOf(fields.get('strides')).map(readSize)
  if (sizes.length > MAX_RANK || sizes.length !== strides.length)
    throw damaged(`a tensor has ${sizes.length} sizes and ${strides.length} strides; expected as many of both, at most ${MAX_RANK}`)
  return {
    scalarType: scalarTypeOf(countOf(fields.get('dtype'), 'a dtype')),
    sizes,
    strides,
    offset: readSize(fields.get('storage_offset') ?? null),
  }
}

function readSize(json: Json | undefined): Expression | null {
  if (json === null || json === undefined) return { kind: 'int', value: 0 }
  const [field, value] = variantOf(json, 'a size')
  if (field === 'as_int') return { kind: 'int', value: countOf(value, 'a size', Number.MIN_SAFE_INTEGER) }
  if (field !== 'as_expr') throw damaged(`expected a size, found '${field.slice(0, 60)}'`)
  return parseSympy(textOf(objectOf(value).get('expr_str')))
}

/** Sizes that are numbers; throws INVALID_FILE where one is not, as none of a stored tensor may be. */
export function fixedSizes(sizes: readonly (Expression | null)[]): number[] {
  return sizes.map((size) => {
    if (size?.kind !== 'int') throw damaged('a stored tensor has a size that is no number')
    return size.value
  })
}
