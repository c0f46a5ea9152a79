import { check } from '../../error.js'
import { readTensor } from '../../tensor/data.js'
import { DType } from '../../tensor/dtype.js'
import { asNested, sequenceLengths } from '../../tensor/sparse.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import * as axes from '../../tensor/view.js'
import { copyInto } from '../support/copy.js'
import { filled } from '../support/make.js'
import * as at from '../generated/dispatch.js'

/** How nested tensors are made of padded ones and become padded again. */

/** A bool mask [batch, longest] of what lies behind the end of each sequence. */
export function paddingMask(of: readonly number[]): Tensor {
  const mask = filled([of.length, Math.max(...of)], DType.bool, true)
  of.forEach((n, i) => at.fill__Scalar(v.narrowed(v.select(mask, 0, i), 0, 0, n), false))
  return mask
}

/** The lengths that a mask of valid elements tells, and whether all of them stand at the start of their row. */
function lengthsIn(t: Tensor, mask: Tensor): { of: number[]; aligned: boolean } {
  check(mask.type === DType.bool, () => `expected a mask of dtype bool, found ${mask.dtype}`)
  check(
    t.dim === 3 && mask.dim === 2 && mask.shape[0] === t.shape[0] && mask.shape[1] === t.shape[1],
    () =>
      `expected a tensor [batch, length, width] with a mask [batch, length], found [${t.shape.join(', ')}] and [${mask.shape.join(', ')}]`,
  )
  const [batch, longest] = mask.shape as [number, number]
  const valid = readTensor(mask) as Uint8Array
  const of: number[] = []
  let aligned = true
  for (let row = 0; row < batch; row++) {
    const marks = valid.subarray(row * longest, (row + 1) * longest)
    const count = marks.reduce((sum, mark) => sum + (mark === 0 ? 0 : 1), 0)
    aligned &&= marks.subarray(0, count).every((mark) => mark !== 0)
    of.push(count)
  }
  return { of, aligned }
}

/** Whether the mask marks the first elements of each row and no others. */
export function _nested_tensor_from_mask_left_aligned(t: Tensor, mask: Tensor): boolean {
  return lengthsIn(t, mask).aligned
}

/** The elements of t [batch, length, width] that the mask marks, which are the first ones of each row. */
export function _nested_tensor_from_mask(t: Tensor, mask: Tensor, maskCheck: boolean): Tensor {
  const { of, aligned } = lengthsIn(t, mask)
  check(!maskCheck || aligned, () => 'expected a mask that marks the start of each sequence; pad sequences at their end')
  const longest = Math.max(0, ...of)
  check(longest > 0, () => 'expected at least one sequence with an element, found none')
  // zeros, since attention multiplies what it leaves out by zero, which infinities and NaN would survive
  const padding = v.unsqueeze(paddingMask(of), -1)
  return asNested(at.masked_fill_Scalar(axes.narrow(t, 1, 0, longest), padding, 0), of)
}

/** A nested tensor as [batch, longest, width], or the larger `outputSize`, with `padding` behind the sequences. */
export function to_padded_tensor(self: Tensor, padding: number, outputSize: number[] | null): Tensor {
  const of = sequenceLengths(self)
  check(of !== null, () => `to_padded_tensor expects a nested tensor, found one of shape [${self.shape.join(', ')}]`)
  const size = outputSize ?? self.shape
  check(
    size.length === 3 && size[0] === self.shape[0] && size.every((n, d) => n >= self.shape[d]!),
    () => `to_padded_tensor: expected an output size of at least [${self.shape.join(', ')}], found [${size.join(', ')}]`,
  )
  const out = filled(size, self.type, padding)
  of.forEach((n, i) => {
    const place = v.narrowed(v.select(out, 0, i), 0, 0, n)
    copyInto(v.narrowed(place, 1, 0, self.shape[2]!), v.narrowed(v.select(self, 0, i), 0, 0, n))
  })
  return out
}
