import { rowsFirstStrides } from '../../shapes/attention.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { attend } from '../support/attention.js'
import type { CPU } from '../support/generated/interfaces.js'

/**
 * attend() as an operator of compiled graphs. The result is [..., L, E]; with `rowsFirst` its rows are outside of the heads in memory, which
 * is dense as [batch, L, heads, E].
 */
export const attention: CPU['attention'] = (query, key, value, mask, scale, causal, safe, rowsFirst) => {
  const width = value.shape.at(-1) ?? 1
  const result = outputFor(query.shape.slice(0, -2), query.shape.at(-2) ?? 1, width, rowsFirst)
  attend(query, key, value, mask, { scale, causal, safe }, result, null)
  return result
}

function outputFor(lead: readonly number[], queries: number, width: number, rowsFirst: boolean): Tensor {
  const heads = lead.at(-1)
  if (!rowsFirst || heads === undefined) return empty([...lead, queries, width], DType.float32)
  const result = empty([...lead.slice(0, -1), queries, heads, width], DType.float32)
  return viewOf(result, [...lead, queries, width], rowsFirstStrides(lead, queries, width))
}
