import { check } from '../../error.js'
import { broadcastShapes, sameShape } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'

/** What is added to a product: beta * source, broadcast to the result. */
export interface Addend {
  readonly source: Tensor
  readonly beta: number
}

export interface Sizes {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly batch: number
}

export function sizesOf(a: Tensor, b: Tensor): Sizes {
  const batch = a.dim === 3 ? a.shape[0]! : b.dim === 3 ? b.shape[0]! : 1
  return { m: a.shape[a.dim - 2]!, n: b.shape[b.dim - 1]!, k: a.shape[a.dim - 1]!, batch }
}

/** Addresses and strides of the operands of a matrix product with a contiguous result. */
export function placesOf(operator: string, a: Tensor, b: Tensor, source: Tensor | null, c: Tensor, { m, n, batch }: Sizes) {
  const ra = a.dim
  const rb = b.dim
  const strides = source === null ? NO_STRIDES : broadcastStrides(operator, source, c.dim === 2 || c.dim === 3 ? c.shape : [batch, m, n])
  const rank = strides.length
  return {
    a: a.address,
    b: b.address,
    c: c.address,
    source: source === null ? 0 : source.address,
    a_row: a.strides[ra - 2]!,
    a_col: a.strides[ra - 1]!,
    a_batch: ra === 3 ? a.strides[0]! : 0,
    b_row: b.strides[rb - 2]!,
    b_col: b.strides[rb - 1]!,
    b_batch: rb === 3 ? b.strides[0]! : 0,
    c_row: n,
    c_batch: m * n,
    source_row: strides[rank - 2] ?? 0,
    source_col: strides[rank - 1] ?? 0,
    source_batch: strides[rank - 3] ?? 0,
  }
}

const NO_STRIDES: readonly number[] = []

/** Strides of `t` broadcast to `shape`; throws unless that is possible. */
function broadcastStrides(operator: string, t: Tensor, shape: readonly number[]): number[] {
  check(
    t.dim <= shape.length && sameShape(broadcastShapes(t.shape, shape), shape),
    () => `${operator}: a tensor of shape [${t.shape.join(', ')}] cannot be expanded to [${shape.join(', ')}]`,
  )
  const lead = shape.length - t.dim
  return shape.map((size, d) => (d < lead || (t.shape[d - lead] === 1 && size !== 1) ? 0 : t.strides[d - lead]!))
}

/**
 * The kernel may write the product into `out` itself, while it reads its operands: it is dense and of the result's shape, and no operand
 * shares its storage, or the source is `out` itself.
 */
export function takesProduct(
  out: Tensor | undefined,
  shape: readonly number[],
  a: Tensor,
  b: Tensor,
  source: Tensor | null,
): out is Tensor {
  if (out === undefined || !sameShape(out.shape, shape) || !out.isContiguous) return false
  if (out.storage === a.storage || out.storage === b.storage) return false
  return source === null || source === out || source.storage !== out.storage
}
