import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { stridesAs } from '../../tensor/iterator.js'
import { isDense } from '../../tensor/view-strides.js'
import { shapeText } from '../../tensor/shape.js'
import { emptyStrided, type Tensor } from '../../tensor/tensor.js'
import { contiguousOf } from '../support/copy.js'

/** Dimensions before the last one that the kernel's frame has room for. */
const ROW_DIMS = 3

/**
 * Turns pairs among the first `rotated` elements of each row of a float32 input [..., width], of up to four dimensions, by angles: of a and b
 * come a cos - b sin and b cos + a sin. Pairs lie rotated / 2 apart, or side by side where `interleaved`. The tables can be broadcast
 * to [..., rotated], or to [..., rotated / 2] where both elements of a pair have one angle. The result is dense with these strides.
 */
export function rotary(input: Tensor, cos: Tensor, sin: Tensor, rotated: number, interleaved: boolean, stride: number[]): Tensor {
  const operator = 'ptlite::rotary'
  const rank = input.dim
  const width = input.shape[rank - 1] ?? 0
  const angles = cos.shape.at(-1) ?? 0
  for (const t of [input, cos, sin]) check(t.type === DType.float32, () => `${operator}: expected float32 tensors, found ${t.dtype}`)
  check(rank >= 1 && rank <= ROW_DIMS + 1, () => `${operator}: expected 1 to ${ROW_DIMS + 1} dimensions, found ${rank}`)
  check(
    rotated > 0 && rotated % 2 === 0 && rotated <= width && (angles === rotated || angles === rotated / 2),
    () => `${operator}: ${rotated} of ${width} elements and tables of ${angles} do not go together`,
  )
  check(
    stride.length === rank && isDense(input.shape, stride) && (width === 1 || stride[rank - 1] === 1),
    () => `${operator}: expected strides of a dense result with contiguous rows, found ${shapeText(stride)}`,
  )
  const lead = input.shape.slice(0, -1)
  const result = emptyStrided(input.shape, stride, DType.float32)
  if (result.numel === 0) return result
  const x = rowsContiguous(input)
  const [c, s] = [rowsContiguous(cos), rowsContiguous(sin)]
  kernels.rotary({
    interleaved: interleaved ? 1 : 0,
    doubled: angles === rotated ? 1 : 0,
    pairs: rotated / 2,
    width,
    sizes: innermostFirst(lead, 1),
    x_strides: innermostFirst(x.strides.slice(0, -1), 0),
    cos_strides: innermostFirst(tableStrides(operator, c, [...lead, angles]), 0),
    sin_strides: innermostFirst(tableStrides(operator, s, [...lead, angles]), 0),
    out_strides: innermostFirst(stride.slice(0, -1), 0),
    x: x.address,
    cos: c.address,
    sin: s.address,
    out: result.address,
  })
  return result
}

function rowsContiguous(t: Tensor): Tensor {
  return t.strides.at(-1) === 1 || t.shape.at(-1) === 1 ? t : contiguousOf(t)
}

/** Strides of the rows of a table seen as `shape`. */
function tableStrides(operator: string, t: Tensor, shape: readonly number[]): number[] {
  const missing = shape.length - t.dim
  const fits = missing >= 0 && t.shape.every((size, d) => size === shape[missing + d] || (size === 1 && d < t.dim - 1))
  check(fits, () => `${operator}: expected tables that can be broadcast to ${shapeText(shape)}, found ${shapeText(t.shape)}`)
  return stridesAs(t, shape).slice(0, -1)
}

function innermostFirst(list: readonly number[], filling: number): number[] {
  return [...list.slice().reverse(), ...new Array<number>(ROW_DIMS - list.length).fill(filling)]
}
