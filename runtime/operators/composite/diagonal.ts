import { check } from '../../error.js'
import * as v from '../../tensor/view.js'
import * as stridedView from '../../tensor/view.js'
import { narrow } from '../../tensor/view.js'
import { checkOverlap, isRepeated, lastWritten, outputFor, placesOf } from '../../tensor/out.js'
import type { Scalar } from '../../tensor/scalar.js'
import { wrapDim } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { isDense } from '../../tensor/view-strides.js'
import { noteWrite } from '../../tensor/observe.js'
import { contiguousOf, copyInto } from '../support/copy.js'
import { checkOutType } from '../support/write-out.js'
import { fillScalar } from '../support/fill.js'
import { zeroTriangle } from '../support/triangle.js'
import { keyOf, refuseQuantized } from '../key.js'

/** Diagonals and triangles of matrices. */

/** Zero outside the part on and below (`lower`) or above the diagonal. */
function triangle(self: Tensor, diagonal: number, lower: boolean, out?: Tensor): Tensor {
  check(self.shape.length >= 2, () => `expected at least two dimensions, found shape [${self.shape.join(', ')}]`)
  const name = lower ? 'tril' : 'triu'
  refuseQuantized(`aten::${name}`, keyOf(self))
  if (out !== undefined) checkOutType(out, self.type, name)
  const result = outputFor(out, self.shape, self.type)
  if (result === self && !isDense(self.shape, self.strides) && isBatch(self)) {
    // elements that share memory are all zero where one is
    eachRow(self, (row, i) => {
      fillScalar(placesOf(outside(row, i + diagonal, lower)), 0)
    })
  } else {
    const dense = result.isContiguous ? result : empty(self.shape, result.type)
    if (dense !== self) copyInto(dense, self)
    zeroTriangle(dense, diagonal, lower)
    if (result !== self && isRepeated(result)) copyInto(placesOf(result), lastWritten(writtenLast(dense, result, diagonal, lower), result))
    else if (dense !== result) copyInto(result, dense)
  }
  noteWrite(result)
  return result
}

/** Whether matrices follow each other as PyTorch wants them, to work in place; the first dimension may be expanded. */
function isBatch({ shape, strides }: Tensor): boolean {
  const last = shape.length - 2
  if (last <= 1) return true
  let expected = shape[last]! * shape[last + 1]!
  for (let d = last - 1; d >= 0; d--) {
    if (d === 0 && (strides[d] === 0 || shape[d] === 1)) continue
    if (strides[d] !== expected) return false
    expected *= shape[d]!
  }
  return true
}

/** Calls `action` for the rows of all matrices, in order. */
function eachRow(t: Tensor, action: (row: Tensor, i: number) => void): void {
  for (let i = 0; i < t.shape[0]!; i++) {
    const inner = v.select(t, 0, i)
    if (inner.shape.length === 1) action(inner, i)
    else eachRow(inner, action)
  }
}

/** The elements of a row that become zero, whose element `at` is on the diagonal. */
function outside(row: Tensor, at: number, lower: boolean): Tensor {
  const n = row.shape[0]!
  const bound = Math.max(0, Math.min(n, lower ? at + 1 : at))
  return lower ? narrow(row, 0, bound, n - bound) : narrow(row, 0, 0, bound)
}

/** PyTorch writes the zeros of a row before its other elements: of columns in one place, the last one on or below the diagonal stays. */
function writtenLast(dense: Tensor, result: Tensor, diagonal: number, lower: boolean): Tensor {
  const d = dense.shape.length - 1
  if (!lower || result.strides[d] !== 0) return dense
  const last = empty(dense.shape, dense.type)
  const columns = dense.shape[d]!
  for (let i = 0; i < dense.shape[d - 1]!; i++) {
    const column = Math.max(0, Math.min(columns - 1, i + diagonal))
    copyInto(v.select(last, d - 1, i), narrow(v.select(dense, d - 1, i), d - 1, column, 1))
  }
  return last
}

export function tril(self: Tensor, diagonal: number, out?: Tensor): Tensor {
  return triangle(self, diagonal, true, out)
}

export function triu(self: Tensor, diagonal: number, out?: Tensor): Tensor {
  return triangle(self, diagonal, false, out)
}

/** A vector becomes the diagonal of a matrix, of a matrix the diagonal is taken. */
export function diag(self: Tensor, diagonal: number, out?: Tensor): Tensor {
  check(self.shape.length === 1 || self.shape.length === 2, () => `diag expects a vector or matrix, found shape [${self.shape.join(', ')}]`)
  if (self.shape.length === 2) {
    const [rows, columns] = self.shape as [number, number]
    check(-rows <= diagonal && diagonal <= columns, () => `a ${rows} x ${columns} matrix has no diagonal ${diagonal}`)
    const source = stridedView.diagonal(self, diagonal)
    const result = outputFor(out, source.shape, self.type)
    copyInto(result, source)
    return result
  }
  const size = self.shape[0]! + Math.abs(diagonal)
  const result = outputFor(out, [size, size], self.type)
  if (out !== undefined) checkOverlap(result, [])
  fillScalar(result, 0)
  copyInto(stridedView.diagonal(result, diagonal), self)
  return result
}

export function diagflat(self: Tensor, offset: number): Tensor {
  return diag(v.view(contiguousOf(self), [-1]), offset)
}

/** The last dimension becomes the diagonal of the matrix in dimensions `dim1` and `dim2`. */
export function diag_embed(self: Tensor, offset: number, dim1: number, dim2: number): Tensor {
  const rank = self.shape.length + 1
  const a = wrapDim(dim1, rank)
  const b = wrapDim(dim2, rank)
  check(a !== b, () => `expected two different dimensions, found ${dim1} and ${dim2}`)
  check(self.shape.length > 0, () => 'diag_embed needs at least one dimension, found a 0-d tensor')
  const size = self.shape[self.shape.length - 1]! + Math.abs(offset)
  const shape = self.shape.slice(0, -1)
  for (const d of a < b ? [a, b] : [b, a]) shape.splice(d, 0, size)
  const out = empty(shape, self.type)
  fillScalar(out, 0)
  copyInto(stridedView.diagonal(out, offset, a, b), self)
  return out
}

/**
 * With `wrap`, the diagonal of a matrix with more rows than columns begins anew after each row that it leaves out: on rows 0, c + 1, 2 (c + 1)
 * and so on for c columns.
 */
export function fill_diagonal_(self: Tensor, value: Scalar, wrap: boolean): Tensor {
  const { shape, strides } = self
  check(shape.length >= 2, () => `fill_diagonal_ expects at least two dimensions, found shape [${shape.join(', ')}]`)
  check(shape.length === 2 || shape.every((n) => n === shape[0]), () => `fill_diagonal_ expects equal sizes, found [${shape.join(', ')}]`)
  const step = strides.reduce((sum, n) => sum + n, 0)
  const size = Math.min(...shape)
  const [rows, columns] = shape as [number, number]
  if (!wrap || shape.length !== 2 || rows <= columns) {
    fillScalar(viewOf(self, [size], [step]), value)
    return self
  }
  const period = columns + 1
  const whole = Math.floor((rows + 1) / period)
  fillScalar(viewOf(self, [whole, columns], [strides[0]! * period, step]), value)
  const start = whole * period
  if (start < rows) fillScalar(viewOf(self, [Math.min(rows - start, columns)], [step], self.offset + start * strides[0]!), value)
  return self
}
