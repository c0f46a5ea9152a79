import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { Limit } from '../../native/generated/numbers.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import { stridesAs } from '../../tensor/iterator.js'
import { float } from '../../tensor/scalar.js'
import { contiguousStrides, numelOf } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { clampedLinear, linear, matmul, takesLinear } from './matmul.js'
import { clamp_out } from './clamp.js'
import { CONV_AXES, convolve } from './support/conv.js'
import { type ConvSettings, convSizes } from '../../shapes/convolution.js'
import { coalesce } from '../../shapes/dims.js'
import { limitsOf } from './support/limits.js'
import {
  broadcastStrides,
  checkSteps,
  postFields,
  type PostOps,
  postOpsOf,
  takesPostOps,
  type StepArguments,
} from '../../shapes/post-ops.js'
import { castTo } from '../support/copy.js'
import { product } from '../support/product.js'
import type { CPU } from '../support/generated/interfaces.js'

/** What steps read and write. */
const FUSED_DTYPES: ReadonlySet<number> = new Set([DType.float32, DType.bfloat16, DType.float16, DType.bool])

/** Outputs of this many bytes are written past the caches, which would keep too little of them for their reader. */
const STREAMING_BYTES = 32 * 2 ** 20

/** The steps on a finished tensor, in a pass of their own: where the kernel cannot take them. */
export function applySteps(result: Tensor, { operands, ops, values, numbers }: PostOps): Tensor {
  return fused([result, ...operands], [...result.shape], [...ops], [...values], [...numbers], null)
}

/**
 * Convolution of [n, c, ...] or [c, ...] with bias, clamped to [min, max], in one kernel call. Steps work on blocks of a float32 result while
 * these are in the caches.
 */
export const clamped_convolution: CPU['clamped_convolution'] = (
  input,
  weight,
  bias,
  stride,
  padding,
  dilation,
  groups,
  min,
  max,
  ...steps
) => {
  const operator = 'ptlite::convolution'
  const post = postOpsOf(operator, ...steps)
  const settings = { stride, padding, dilation, groups }
  const batched = input.dim === weight.dim
  const x = batched ? input : viewOf(input, [1, ...input.shape], [0, ...input.strides])
  const fits = post !== null && takesSteps(operator, x, weight, settings, post)
  const result = convolve(operator, x, weight, bias, settings, padding, limitsOf(min, max), 0, fits ? post : null)
  const whole = post === null || fits ? result : applySteps(result, post)
  return batched ? whole : viewOf(whole, whole.shape.slice(1), whole.strides.slice(1))
}

/** Numbers of float32, each the nearest one of a float of 16 bits. */
export const rounded: CPU['rounded'] = (self, dtype) => {
  check(
    self.type === DType.float32 && isHalf(dtype),
    () => `ptlite::rounded: expected float32 and a dtype of 16 bits, found ${self.dtype} and ${dtypeName(dtype)}`,
  )
  return castTo(castTo(self, dtype), DType.float32)
}

/** Operands line up with the last dimensions, so a batch that is put in front is none of theirs. */
function takesSteps(operator: string, x: Tensor, weight: Tensor, settings: ConvSettings, post: PostOps): boolean {
  const shape = [x.shape[0]!, weight.shape[0]!, ...convSizes(operator, x, weight, settings, settings.padding)]
  return x.type === DType.float32 && takesPostOps(post, shape, CONV_AXES)
}

/** x weight^T + bias over the last dimension, clamped to [min, max]. Float tensors of one dtype. Steps as those of `clamped_convolution`. */
export const clamped_linear: CPU['clamped_linear'] = (input, weight, bias, min, max, ...steps) => {
  const post = postOpsOf('ptlite::linear', ...steps)
  const clamped = limitsOf(min, max) !== null
  if (!takesLinear(input, weight, bias)) {
    const result = linear(input, weight, bias)
    const bounded = clamped ? clamp_out(result, float(min), float(max)) : result
    return post === null ? bounded : applySteps(bounded, post)
  }
  if (post === null) return clampedLinear(input, weight, bias, clamped, min, max)
  const shape = [...input.shape.slice(0, -1), weight.shape[0]!]
  const axes = { row: 0, column: shape.length - 1 }
  if (input.type !== DType.float32 || !takesPostOps(post, shape, axes))
    return applySteps(clampedLinear(input, weight, bias, clamped, min, max), post)
  return clampedLinear(input, weight, bias, clamped, min, max, 0, postFields(post, shape, axes))
}

/** A product of matrices, or of as many pairs of them, then steps as those of `clamped_convolution`. */
export function matmul_steps(self: Tensor, other: Tensor, ...steps: StepArguments): Tensor {
  const operator = 'ptlite::matmul'
  const post = postOpsOf(operator, ...steps)
  if (post === null) return matmul(self, other)
  const rank = self.dim
  const fits =
    self.type === DType.float32 &&
    other.type === DType.float32 &&
    rank === other.dim &&
    (rank === 2 || (rank === 3 && self.shape[0] === other.shape[0])) &&
    self.shape[rank - 1] === other.shape[rank - 2]
  const shape = [...self.shape.slice(0, -1), other.shape[other.dim - 1]!]
  const axes = { row: rank - 2, column: rank - 1 }
  if (!fits || !takesPostOps(post, shape, axes)) return applySteps(matmul(self, other), post)
  return product(operator, shape, self, other, 1, null, undefined, postFields(post, shape, axes))
}

/**
 * A chain of element-wise steps over tensors that are broadcast to `size`, as one dense tensor. Step i applies JitAlgorithm `ops[i]` to operands
 * 2i and 2i + 1: inputs first, then results of earlier steps; -1 and -2 are numbers 2i and 2i + 1, which are alpha and beta of other steps.
 * Steps compute in float32, to which 16-bit floats are widened; a bool is all bits of a float or none. A result of `dtype` bfloat16 or float16 is rounded by
 * its last step.
 */
export function fused(inputs: Tensor[], size: number[], ops: number[], operands: number[], numbers: number[], dtype: DType | null): Tensor {
  return fused_results(inputs, size, ops, operands, numbers, [ops.length - 1], [dtype ?? DType.float32])[0]!
}

/** The same with several results, of one size: those of `steps`, by number, the last of which is the last step. One dtype for each. */
export const fused_results: CPU['fused_results'] = (inputs, size, ops, operands, numbers, steps, dtypes) => {
  checkFused(inputs, size, ops, steps, dtypes)
  checkSteps('ptlite::fused', inputs.length, { ops, values: operands, numbers })
  const results = dtypes.map((type) => empty([...size], type as DType))
  if (numelOf(size) === 0) return results
  const walk = coalesce(size, [contiguousStrides(size), ...inputs.map((t) => stridesAs(t, size))])
  const { sizes } = walk
  check(sizes.length <= Limit.FUSED_DIMS, () => `ptlite::fused: expected at most ${Limit.FUSED_DIMS} dimensions, found ${sizes.length}`)
  const strides = new Array<number>(Limit.FUSED_DIMS * inputs.length).fill(0)
  inputs.forEach((_, k) => walk.strides[k + 1]!.forEach((stride, d) => (strides[Limit.FUSED_DIMS * k + d] = stride)))
  const out = results.at(-1)!
  const more = results.slice(0, -1)
  kernels.fused({
    inputs: inputs.length,
    steps: ops.length,
    ndim: Math.max(1, sizes.length),
    streaming: Number(out.numel * out.itemSize >= STREAMING_BYTES),
    sizes: sizes.length === 0 ? [1] : sizes,
    out: out.address,
    in: inputs.map((t) => t.address),
    strides,
    op: ops,
    a: operands.filter((_, i) => i % 2 === 0),
    b: operands.filter((_, i) => i % 2 === 1),
    p0: numbers.filter((_, i) => i % 2 === 0),
    p1: numbers.filter((_, i) => i % 2 === 1),
    code: 0,
    out_dtype: out.type,
    more: more.length,
    kept: steps.slice(0, -1),
    more_dtypes: more.map((t) => t.type),
    more_out: more.map((t) => t.address),
    dtypes: inputs.map((t) => t.type),
  })
  return results
}

function checkFused(inputs: readonly Tensor[], size: number[], ops: number[], steps: number[], dtypes: number[]): void {
  const last = ops.length - 1
  check(
    last >= 0 && last < Limit.CHAIN_STEPS && inputs.length <= Limit.CHAIN_INPUTS,
    () =>
      `ptlite::fused: expected 1 to ${Limit.CHAIN_STEPS} steps over at most ${Limit.CHAIN_INPUTS} tensors, found ${ops.length} over ${inputs.length}`,
  )
  check(
    steps.length === dtypes.length && steps.length <= 1 + Limit.CHAIN_MORE && steps.at(-1) === last && new Set(steps).size === steps.length,
    () =>
      `ptlite::fused: expected up to ${1 + Limit.CHAIN_MORE} different steps with a dtype each, the last of all among them, found ${steps.join(', ')}`,
  )
  check(
    steps.every((step) => step >= 0 && step <= last),
    () => `ptlite::fused: expected steps 0 to ${last}, found ${steps.join(', ')}`,
  )
  for (const type of [...dtypes, ...inputs.map((t) => t.type)]) {
    check(
      FUSED_DTYPES.has(type),
      () => `ptlite::fused: expected tensors of 16- or 32-bit floats or bools, found ${dtypeName(type as DType)}`,
    )
  }
  for (const t of inputs) {
    check(
      broadcastStrides(t.shape, t.strides, size) !== undefined,
      () => `ptlite::fused: a tensor of shape [${t.shape.join(', ')}] for a result of [${size.join(', ')}]`,
    )
  }
}
