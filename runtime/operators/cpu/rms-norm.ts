import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType, holdsComplex, realOf } from '../../tensor/dtype.js'
import { planStrides } from '../../tensor/iterator.js'
import { channelsLastStrides, contiguousStrides, isChannelsLastStrides, isContiguous, numelOf, shapeText } from '../../tensor/shape.js'
import { empty, emptyStrided, type Tensor, viewOf } from '../../tensor/tensor.js'
import { Float } from '../../tensor/scalar.js'
import { add_out, mul_out } from './binary.js'
import { mean_dim } from './reduction.js'
import { rsqrt_out, square_out } from './unary.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { checkReal, computeType } from '../support/real.js'

/** Dimensions of rows that the kernel's frame has room for. */
const ROW_DIMS = 3

/** What is added to the mean square where a call does not say: the epsilon of the dtype that it is computed in. */
function epsilonOf(type: DType): number {
  return type === DType.float64 ? Number.EPSILON : 2 ** -23
}

/** Where rows of the last dimensions begin; `x` is a copy where these are not dense, or the rows merge to too many dimensions. */
interface Rows {
  readonly x: Tensor
  readonly sizes: readonly number[]
  readonly strides: readonly number[]
}

function rowsOf(input: Tensor, axis: number, size: number): Rows {
  const lead = input.shape.slice(0, axis)
  if (isContiguous(input.shape.slice(axis), input.strides.slice(axis))) {
    const rowStrides = contiguousStrides(lead).map((stride) => stride * size)
    const { ndim, n, sizes, strides } = planStrides(lead, [rowStrides, input.strides.slice(0, axis)], 2)
    if (ndim === 0) return { x: input, sizes: [n, 1, 1], strides: [size, 0, 0] }
    const pad = (list: readonly number[], by: number): number[] => [...list, ...new Array<number>(ROW_DIMS - ndim).fill(by)]
    if (ndim <= ROW_DIMS) return { x: input, sizes: pad(sizes, 1), strides: pad(strides[1]!, 0) }
  }
  return { x: contiguousOf(input), sizes: [numelOf(lead), 1, 1], strides: [size, 0, 0] }
}

/** One number per element of a row, in the dtype of the input or the one that it is computed in. */
function rowWeight(operator: string, weight: Tensor, shape: readonly number[], input: Tensor): Tensor {
  const missing = shape.length - weight.dim
  const fits = missing >= 0 && weight.shape.every((size, d) => size === 1 || size === shape[missing + d])
  check(fits, () => `${operator}: expected a weight that can be broadcast to ${shapeText(shape)}, found ${shapeText(weight.shape)}`)
  const strides = shape.map((_, d) => (d < missing || weight.shape[d - missing] === 1 ? 0 : weight.strides[d - missing]!))
  const row = contiguousOf(viewOf(weight, shape, strides))
  return row.type === input.type ? row : castTo(row, computeType(input.type))
}

/** The input over the root of its mean square over the last `count` dimensions, times the weight; and the inverse roots where wanted. */
function normalize(operator: string, input: Tensor, count: number, weight: Tensor | null, eps: number | null, rstd: Tensor | null): Tensor {
  const axis = input.dim - count
  const shape = input.shape.slice(axis)
  const size = numelOf(shape)
  const result = empty(input.shape, input.type)
  const row = weight === null ? null : rowWeight(operator, weight, shape, input)
  if (numelOf(input.shape.slice(0, axis)) > 0) {
    const { x, sizes, strides } = rowsOf(input, axis, size)
    kernels.rms_norm({
      dtype: input.type,
      weight_dtype: row?.type ?? input.type,
      sizes,
      strides,
      size,
      input: x.address,
      output: result.address,
      weight: row?.address ?? 0,
      rstd: rstd?.address ?? 0,
      eps: eps ?? epsilonOf(input.type),
    })
  }
  return isChannelsLastStrides(input.shape, input.strides, 4) || isChannelsLastStrides(input.shape, input.strides, 5)
    ? channelsLastCopy(result)
    : result
}

function channelsLastCopy(t: Tensor): Tensor {
  const copy = emptyStrided(t.shape, channelsLastStrides(t.shape), t.type)
  copyInto(copy, t)
  return copy
}

/**
 * torch.rms_norm over the last dimensions, which have normalized_shape. Halves are computed in float32 and rounded once; a weight of
 * another dtype is converted first. `eps` is the epsilon of the dtype that it is computed in where there is none.
 */
export function rms_norm(input: Tensor, normalizedShape: number[], weight: Tensor | null, eps: number | null): Tensor {
  const count = normalizedShape.length
  const text = shapeText(normalizedShape)
  check(count > 0, () => 'rms_norm: expected a normalized_shape with 1 or more dimensions')
  check(
    weight === null || (weight.dim === count && weight.shape.every((size, d) => size === normalizedShape[d])),
    () => `rms_norm: expected a weight of shape ${text}, found ${weight === null ? 'none' : shapeText(weight.shape)}`,
  )
  check(
    count <= input.dim && normalizedShape.every((size, d) => input.shape[input.dim - count + d] === size),
    () => `rms_norm: expected an input that ends in ${text}, found shape ${shapeText(input.shape)}`,
  )
  if (holdsComplex(input)) return complexRmsNorm(input, count, weight, eps)
  checkReal('rms_norm', input.type)
  return normalize('rms_norm', input, count, weight, eps, null)
}

/** As PyTorch has it: not the sizes of the numbers are squared, but the numbers. */
function complexRmsNorm(input: Tensor, count: number, weight: Tensor | null, eps: number | null): Tensor {
  const dims = Array.from({ length: count }, (_, i) => input.dim - 1 - i)
  const square = add_out(mean_dim(square_out(input), dims, true, null), new Float(eps ?? epsilonOf(realOf(input.type))), 1)
  const scaled = mul_out(input, rsqrt_out(square))
  return weight === null ? scaled : mul_out(scaled, weight)
}

/**
 * rms_norm, and the inverse root of each row's mean square in the dtype that it is computed in. As in PyTorch, only the number of
 * dimensions in normalized_shape counts, none meaning all, and the weight is broadcast.
 */
export function _fused_rms_norm(input: Tensor, normalizedShape: number[], weight: Tensor | null, eps: number | null): [Tensor, Tensor] {
  const operator = '_fused_rms_norm'
  const { length } = normalizedShape
  check(length <= input.dim, () => `${operator}: expected an input with ${length} or more dimensions, found ${shapeText(input.shape)}`)
  checkReal(operator, input.type)
  const count = length === 0 ? input.dim : length
  const rstd = empty([...input.shape.slice(0, input.dim - count), ...new Array<number>(count).fill(1)], computeType(input.type))
  return [normalize(operator, input, count, weight, eps, rstd), rstd]
}
