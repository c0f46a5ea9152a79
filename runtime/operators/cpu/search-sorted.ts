import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, isIntegral } from '../../tensor/dtype.js'
import { promoteTypes } from '../../tensor/promote.js'
import { Float, type Scalar } from '../../tensor/scalar.js'
import { sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { writeOut, writeOutExact } from '../support/write-out.js'
import { filled } from '../support/make.js'
import type { CPU } from '../support/generated/interfaces.js'
import { numeric } from './sort.js'

function searchSorted(boundaries: Tensor, values: Tensor, int32: boolean, right: boolean, sorter: Tensor | null): Tensor {
  const type = promoteTypes(boundaries.type, values.type)
  numeric(boundaries, 'searchsorted')
  const edges = contiguousOf(castTo(boundaries, type))
  const found = contiguousOf(castTo(values, type))
  const order = sorter === null ? null : contiguousOf(sorter)
  const out = empty([...values.shape], int32 ? DType.int32 : DType.int64)
  const length = edges.shape[edges.dim - 1]!
  if (out.numel === 0) return out
  const rows = edges.dim === 1 ? 1 : edges.numel / Math.max(length, 1)
  kernels.search_sorted({
    dtype: type,
    out_dtype: out.type,
    right: right ? 1 : 0,
    rows,
    row_length: length,
    values_per_row: found.numel / rows,
    boundaries_step: length,
    boundaries: edges.address,
    sorter: order === null ? 0 : order.address,
    values: found.address,
    out: out.address,
  })
  return out
}

/** torch.searchsorted: where each value would go in its row of ascending boundaries (or boundaries[sorter]). */
export const searchsorted_Tensor: CPU['searchsorted_Tensor'] = (sortedSequence, self, outInt32, right, side, sorter, out) => {
  check(side === null || side === 'left' || side === 'right', () => `searchsorted: expected side 'left' or 'right', found '${side}'`)
  check(!(side === 'left' && right), () => "searchsorted: side 'left' contradicts right=True")
  const rows = sortedSequence.shape.slice(0, -1)
  check(sortedSequence.dim > 0, () => 'searchsorted: expected boundaries with at least one dimension')
  check(sortedSequence.dim === 1 || (self.dim === sortedSequence.dim && sameShape(rows, self.shape.slice(0, -1))), () =>
    `searchsorted: boundaries [${sortedSequence.shape.join(', ')}] and values [${self.shape.join(', ')}] must agree in all dimensions but the last`,
  ) // prettier-ignore
  if (sorter !== null) {
    check(sorter.type === DType.int64 && sameShape(sorter.shape, sortedSequence.shape), () =>
      `searchsorted: expected an int64 sorter of shape [${sortedSequence.shape.join(', ')}], found ${sorter.dtype}[${sorter.shape.join(', ')}]`,
    ) // prettier-ignore
  }
  return writeOutExact(searchSorted(sortedSequence, self, outInt32, right || side === 'right', sorter), out, 'searchsorted')
}

/** A 0-d tensor of a scalar, of a dtype that compares well with `other`. */
function scalarBeside(value: Scalar, other: Tensor): Tensor {
  const fraction = value instanceof Float && isIntegral(other.type, true)
  return filled([], fraction ? DType.float32 : other.type === DType.bool && typeof value !== 'boolean' ? DType.int64 : other.type, value)
}

export const searchsorted_Scalar: CPU['searchsorted_Scalar'] = (sortedSequence, self, outInt32, right, side, sorter) => {
  check(sortedSequence.dim === 1, () => `searchsorted: expected one row of boundaries for a number, found ${sortedSequence.dim} dimensions`)
  return searchsorted_Tensor(sortedSequence, scalarBeside(self, sortedSequence), outInt32, right, side, sorter)
}

/** torch.bucketize: searchsorted with one row of boundaries. */
export function bucketize_Tensor(self: Tensor, boundaries: Tensor, outInt32: boolean, right: boolean, out?: Tensor): Tensor {
  check(boundaries.dim === 1, () => `bucketize: expected boundaries of one dimension, found ${boundaries.dim}`)
  return writeOutExact(searchSorted(boundaries, self, outInt32, right, null), out, 'bucketize')
}

export function bucketize_Scalar(self: Scalar, boundaries: Tensor, outInt32: boolean, right: boolean): Tensor {
  return bucketize_Tensor(scalarBeside(self, boundaries), boundaries, outInt32, right)
}

/** torch.isin: which elements occur among the test elements. */
export function isin_Tensor_Tensor(elements: Tensor, testElements: Tensor, _assumeUnique: boolean, invert: boolean, out?: Tensor): Tensor {
  numeric(elements, 'isin')
  numeric(testElements, 'isin')
  const type = promoteTypes(elements.type, testElements.type)
  const a = contiguousOf(castTo(elements, type))
  const b = contiguousOf(castTo(testElements, type))
  const result = empty([...elements.shape], DType.bool)
  kernels.is_in({
    dtype: type,
    invert: invert ? 1 : 0,
    count: a.numel,
    test_count: b.numel,
    elements: a.address,
    tests: b.address,
    out: result.address,
  })
  return writeOut(result, out)
}

export function isin_Tensor_Scalar(elements: Tensor, testElement: Scalar, assumeUnique: boolean, invert: boolean, out?: Tensor): Tensor {
  return isin_Tensor_Tensor(elements, scalarBeside(testElement, elements), assumeUnique, invert, out)
}

export function isin_Scalar_Tensor(element: Scalar, testElements: Tensor, assumeUnique: boolean, invert: boolean, out?: Tensor): Tensor {
  return isin_Tensor_Tensor(scalarBeside(element, testElements), testElements, assumeUnique, invert, out)
}
