import { check } from '../../error.js'
import { broadcastShapes, numelOf } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousOf } from './copy.js'
import { checkSameType, product } from './product.js'

export const shapeText = (t: Tensor): string => `[${t.shape.join(', ')}]`

/** Throws INVALID_ARGUMENT unless the inner sizes of a product agree. */
export function checkInner(operator: string, a: Tensor, b: Tensor, fits: boolean): void {
  check(fits, () => `${operator}: shapes ${shapeText(a)} and ${shapeText(b)} cannot be multiplied`)
}

/** A vector as a matrix of one row. */
export const asRow = (v: Tensor): Tensor => viewOf(v, [1, v.shape[0]!], [0, v.strides[0]!])
/** A vector as a matrix of one column. */
export const asColumn = (v: Tensor): Tensor => viewOf(v, [v.shape[0]!, 1], [v.strides[0]!, 0])

/** `factor` times `matmul`, in one pass. */
export function scaledMatmul(self: Tensor, other: Tensor, factor: number, out?: Tensor): Tensor {
  const ra = self.dim
  const rb = other.dim
  check(
    ra > 0 && rb > 0,
    () => `matmul: expected tensors with 1 or more dimensions, found shapes ${shapeText(self)} and ${shapeText(other)}`,
  )
  checkSameType('matmul', self, other)
  const inner = rb === 1 ? 0 : rb - 2
  checkInner('matmul', self, other, self.shape[ra - 1] === other.shape[inner])
  const a = ra === 1 ? asRow(self) : self
  const b = rb === 1 ? asColumn(other) : other
  const batchShape =
    ra <= 2
      ? other.shape.slice(0, -2)
      : rb <= 2
        ? self.shape.slice(0, -2)
        : broadcastShapes(self.shape.slice(0, -2), other.shape.slice(0, -2))
  const shape = [...batchShape]
  if (ra > 1) shape.push(self.shape[ra - 2]!)
  if (rb > 1) shape.push(other.shape[rb - 1]!)
  if (b.dim === 2 && a.dim > 2) {
    // all matrices of a against one: their rows make one tall matrix
    const k = a.shape[a.dim - 1]!
    const rows = contiguousOf(a)
    return product('matmul', shape, viewOf(rows, [numelOf(a.shape.slice(0, -1)), k], [k, 1]), b, factor, null, out)
  }
  if (batchShape.length === 0) return product('matmul', shape, a, b, factor, null, out)
  return product('matmul', shape, asBatch(a, batchShape), asBatch(b, batchShape), factor, null, out)
}

/** A tensor's matrices, broadcast to a batch shape, as one [batch, rows, columns] view; copied where strides do not merge. */
function asBatch(t: Tensor, batchShape: readonly number[]): Tensor {
  const rank = t.dim
  const rows = t.shape[rank - 2]!
  const cols = t.shape[rank - 1]!
  const lead = batchShape.length - (rank - 2)
  const strides = batchShape.map((size, d) => (d < lead || (t.shape[d - lead] === 1 && size !== 1) ? 0 : t.strides[d - lead]!))
  const count = numelOf(batchShape)
  const step = mergedStride(batchShape, strides)
  if (step !== null) return viewOf(t, [count, rows, cols], [step, t.strides[rank - 2]!, t.strides[rank - 1]!])
  const all = contiguousOf(viewOf(t, [...batchShape, rows, cols], [...strides, t.strides[rank - 2]!, t.strides[rank - 1]!]))
  return viewOf(all, [count, rows, cols], [rows * cols, cols, 1])
}

/** The one stride that walks all of these dimensions in order, or null. */
function mergedStride(shape: readonly number[], strides: readonly number[]): number | null {
  let step = 0
  let size = 0
  for (let d = shape.length - 1; d >= 0; d--) {
    if (shape[d] === 1) continue
    if (size === 0) {
      step = strides[d]!
      size = shape[d]!
    } else if (strides[d] === step * size) {
      size *= shape[d]!
    } else return null
  }
  return step
}
