import { absent, check } from '../error.js'
import { pairsOf } from './data.js'
import { complexOf, DType } from './dtype.js'
import { noteUse } from '../traced-parts.js'
import { Tensor } from './tensor.js'
import * as features from '../features.js'

/** Complex tensors are pairs of reals in memory; these are the ways to see one as the other, without a copy. */

/** Shape [..., 2] of real and imaginary parts (torch.view_as_real). */
export function viewAsReal(t: Tensor): Tensor {
  const { offset, shape, strides, type } = pairsOf(t)
  return new Tensor(t.storage, offset, shape, strides, type)
}

/** The complex view of shape [..., 2] (torch.view_as_complex). */
export function viewAsComplex(t: Tensor): Tensor {
  if (!features.complex) throw absent('complex tensors')
  noteUse('complex')
  const last = t.dim - 1
  check(t.type === DType.float32 || t.type === DType.float64, () => `expected a float32 or float64 tensor, found ${t.dtype}`)
  check(last >= 0 && t.shape[last] === 2 && t.strides[last] === 1, () => 'expected a last dimension of two neighbouring elements')
  const strides = t.strides.slice(0, -1)
  check(t.offset % 2 === 0 && strides.every((s) => s % 2 === 0), () => 'expected even strides and an even offset')
  return new Tensor(
    t.storage,
    t.offset / 2,
    t.shape.slice(0, -1),
    strides.map((s) => s / 2),
    complexOf(t.type),
  )
}

/** The real (0) or imaginary (1) parts as a view. */
export function partOf(t: Tensor, index: 0 | 1): Tensor {
  const pairs = viewAsReal(t)
  return new Tensor(t.storage, pairs.offset + index, t.shape, pairs.strides.slice(0, -1), pairs.type)
}
