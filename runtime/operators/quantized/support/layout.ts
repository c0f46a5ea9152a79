import { channelsLastStrides, contiguousStrides } from '../../../tensor/shape.js'
import { type Tensor, viewOf } from '../../../tensor/tensor.js'
import { contiguousOf } from '../../support/copy.js'

/** Images with channels innermost in memory, the layout of the quantized kernels. */

/** The same elements with channels innermost in memory; `x` itself where they are. */
export function toChannelsLast(x: Tensor): Tensor {
  if (isChannelsLast(x)) return x
  const order = [0, ...x.shape.map((_, i) => i).slice(2), 1]
  const moved = viewOf(
    x,
    order.map((d) => x.shape[d]!),
    order.map((d) => x.strides[d]!),
  )
  return viewOf(contiguousOf(moved), x.shape, channelsLastStrides(x.shape))
}

/** True where the elements lie together with channels innermost. */
export function isChannelsLast(x: Tensor): boolean {
  const { shape, strides, dim } = x
  let step = 1
  for (let i = 0; i < dim; i++) {
    const d = i === 0 ? 1 : i === dim - 1 ? 0 : dim - i
    if (shape[d] !== 1 && strides[d] !== step) return false
    step *= shape[d]!
  }
  return true
}

/** Strides of a result like `x`: channels innermost where `x` has them so, else row-major. */
export function stridesLike(x: Tensor, shape: readonly number[]): readonly number[] {
  const [c, last] = [x.strides[1]!, x.strides[x.dim - 1]!]
  return x.shape[1]! > 1 && c === 1 && last >= x.shape[1]! ? channelsLastStrides(shape) : contiguousStrides(shape)
}

/** Strides of [N, C, spatial...] with one to three spatial dimensions as batch, channel, depth, height, width. */
export function fiveStrides(strides: readonly number[]): number[] {
  return [...strides.slice(0, 2), ...new Array<number>(5 - strides.length).fill(0), ...strides.slice(2)]
}
