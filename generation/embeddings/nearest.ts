import { check, PtliteError } from '../../runtime/error.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import { kindOf } from '../../runtime/tensor/kind-of.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator } from '../../src/values/operators.js'
import { tensor } from '../../src/values/tensor.js'

/** Vectors that are searched: float32[count, width], or rounded to a fourth of that by `roundVectors`. */
export type Vectors = Tensor | RoundedVectors

/** Whole numbers and what each row is to be multiplied by. */
export interface RoundedVectors {
  /** int8[count, width] */
  readonly values: Tensor
  /** float32[count] */
  readonly scales: Tensor
}

/** The nearest vectors of a query, the nearest first. */
export interface Nearest {
  /** Their rows. */
  readonly index: number
  /** The product with the query: the cosine, of vectors of length 1. */
  readonly score: number
}

/** Rows in one product: enough that scores of a million are never held for many queries. */
const BLOCK = 1 << 16

/**
 * The `count` rows of `vectors` whose products with each query are largest; exact: every row is looked at, by native matrix products. `queries` is float32[queries, width], or
 * [width] of one. Of equal scores either row may come first. Throws INVALID_ARGUMENT for other tensors.
 */
export function nearestVectors(vectors: Vectors, queries: Tensor, count: number): Nearest[][] {
  return reading(() => {
    const isRounded = isPair(vectors)
    const rows = isRounded ? vectors.values : vectors
    checkMatrix(rows, isRounded ? 'int8' : 'float32', 'the vectors')
    if (isRounded) check(isTensor(vectors.scales) && vectors.scales.dtype === 'float32' && vectors.scales.numel === rows.shape[0], () => 'nearestVectors(): expected scales, float32[count]') // prettier-ignore
    check(
      isTensor(queries) && queries.dim >= 1,
      () => `nearestVectors(): expected queries, float32[queries, width], found ${kindOf(queries)}`,
    )
    const asked = queries.dim === 1 ? queries.unsqueeze(0) : queries
    checkMatrix(asked, 'float32', 'the queries')
    check(
      asked.shape[1] === rows.shape[1],
      () => `nearestVectors(): the vectors have ${rows.shape[1]!} numbers, the queries ${asked.shape[1]!}`,
    )
    check(Number.isSafeInteger(count) && count >= 1, () => `nearestVectors(): expected a count of at least 1, found ${kindOf(count)}`)
    return search(vectors, rows.shape[0]!, asked, count)
  })
}

function search(vectors: Vectors, total: number, queries: Tensor, count: number): Nearest[][] {
  const best: Nearest[][] = Array.from({ length: queries.shape[0]! }, () => [])
  for (let from = 0; from < total; from += BLOCK) {
    const to = Math.min(from + BLOCK, total)
    const scores = isPair(vectors)
      ? callOperator<Tensor>('aten::_weight_int8pack_mm', [queries, vectors.values.slice(0, from, to), vectors.scales.slice(0, from, to)])
      : queries.matmul(vectors.slice(0, from, to).transpose(0, 1))
    const k = Math.min(count, to - from)
    const [top, places] = scores.topk(k)
    const [values, indices] = [top.data() as Float32Array, places.data() as BigInt64Array]
    for (const [row, found] of best.entries()) {
      for (let i = row * k; i < (row + 1) * k; i++) found.push({ index: from + Number(indices[i]!), score: values[i]! })
      found.sort((a, b) => b.score - a.score)
      found.length = Math.min(found.length, count)
    }
    for (const t of [scores, top, places]) t.dispose()
  }
  return best
}

/**
 * Rounds each vector, float32[count, width], to whole numbers from -127 to 127, a fourth of the memory and of what a search reads; scores keep two to three digits.
 * Throws INVALID_ARGUMENT for other tensors.
 */
export function roundVectors(vectors: Tensor): RoundedVectors {
  return reading(() => {
    checkMatrix(vectors, 'float32', 'the vectors')
    const [count, width] = vectors.shape as readonly [number, number]
    const data = vectors.data() as Float32Array
    const values = new Int8Array(data.length)
    const scales = new Float32Array(count)
    for (let row = 0; row < count; row++) {
      let most = 0
      for (let i = row * width; i < (row + 1) * width; i++) most = Math.max(most, Math.abs(data[i]!))
      const scale = (scales[row] = most / 127)
      if (scale > 0) for (let i = row * width; i < (row + 1) * width; i++) values[i] = Math.round(data[i]! / scale)
    }
    return { values: tensor(values, [count, width]), scales: tensor(scales) }
  })
}

function isTensor(value: unknown): value is Tensor {
  return value instanceof Tensor && Tensor.isOne(value)
}

function isPair(value: unknown): value is RoundedVectors {
  return !isTensor(value) && typeof value === 'object' && value !== null && 'values' in value && 'scales' in value
}

function checkMatrix(value: unknown, dtype: string, what: string): asserts value is Tensor {
  if (isTensor(value) && value.dim === 2 && value.dtype === dtype && value.shape.every((size) => size > 0)) return
  const found = isTensor(value) ? `${value.dtype}[${value.shape.join(', ')}]` : kindOf(value)
  throw new PtliteError('INVALID_ARGUMENT', `nearestVectors(): expected ${what} to be ${dtype}[count, width], found ${found}`)
}
