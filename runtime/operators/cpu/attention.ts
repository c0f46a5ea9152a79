import { rowsFirstStrides } from '../../shapes/attention.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, copyInto } from '../support/copy.js'
import { attend } from '../support/attention.js'
import type { CPU } from '../support/generated/interfaces.js'

/**
 * attend() as an operator of compiled graphs. The result is [..., L, E]; with `rowsFirst` its rows are outside of the heads in memory, which
 * is dense as [batch, L, heads, E]. Keys and values of 8 bits have a scale for each row. Queries of 16 bits are computed in float32, and the result is rounded once.
 */
export const attention: CPU['attention'] = (query, key, value, mask, scale, causal, safe, rowsFirst, keyScales, valueScales) => {
  const [lead, queries, width] = [query.shape.slice(0, -2), query.shape.at(-2) ?? 1, value.shape.at(-1) ?? 1]
  const result = outputFor(lead, queries, width, rowsFirst, DType.float32)
  attend(castTo(query, DType.float32), key, value, mask, { scale, causal, safe }, result, null, { key: keyScales, value: valueScales })
  if (query.type === DType.float32) return result
  const rounded = outputFor(lead, queries, width, rowsFirst, query.type)
  copyInto(rounded, result)
  return rounded
}

function outputFor(lead: readonly number[], queries: number, width: number, rowsFirst: boolean, type: DType): Tensor {
  const heads = lead.at(-1)
  if (!rowsFirst || heads === undefined) return empty([...lead, queries, width], type)
  const result = empty([...lead.slice(0, -1), queries, heads, width], type)
  return viewOf(result, [...lead, queries, width], rowsFirstStrides(lead, queries, width))
}
