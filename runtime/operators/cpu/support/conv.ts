import { PtliteError } from '../../../error.js'
import * as features from '../../../features.js'
import * as kernels from '../../../native/generated/kernels.js'
import { DType, holdsComplex, isComplex } from '../../../tensor/dtype.js'
import { isHalf } from '../../../tensor/half.js'
import { empty, type Tensor, viewOf } from '../../../tensor/tensor.js'
import { complexBilinear } from '../complex-arithmetic.js'
import { castTo, contiguousOf } from '../../support/copy.js'
import { halfWindows } from '../../support/half-weight.js'
import { checkConv, type ConvSettings, convSizes, transposedSizes } from '../../../shapes/convolution.js'
import { PackSide, packedWeight } from '../../support/packed-weight.js'
import { isRoundedFilter, roundedFilter } from '../../support/rounded-weight.js'
import { convolveBfloat16 } from './bfloat16-conv.js'
import { geometry } from './conv-geometry.js'
import { type Clamp, clampFields } from './limits.js'
import { convolveRounded } from './rounded-conv.js'
import { type BlockAxes, postFields, type PostOps } from '../../../shapes/post-ops.js'
import { checkReal, computeTypeOrLong, dense, denseAddress } from '../../support/real.js'

/** Images, channels, pixels. */
export const CONV_AXES: BlockAxes = { row: 1, column: 2 }

/** Throws INVALID_DTYPE unless all are of one floating-point or complex dtype, or int64; plans have weights of 16 bits beside float32. */
function checkTypes(operator: string, input: Tensor, weight: Tensor, bias: Tensor | null): void {
  if (input.type !== DType.int64 && !isComplex(input.type)) checkReal(operator, input.type)
  const isNarrow = operator === 'ptlite::convolution' && input.type === DType.float32 && isHalf(weight.type)
  if ((input.type === weight.type || isNarrow) && (bias === null || bias.type === input.type)) return
  const found = [input, weight, ...(bias === null ? [] : [bias])].map((t) => t.dtype).join(', ')
  throw new PtliteError('INVALID_DTYPE', `${operator}: expected input, weight and bias of the same dtype, found ${found}`)
}

/**
 * Convolution of [n, c, spatial...] with bias and clamp in one kernel call. `behind` is the padding at the ends where
 * it is not that in front; `packed` the address of the weight packed by `packNow` (side a). `post`: steps on a float32 result.
 */
export function convolve(
  operator: string,
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  settings: ConvSettings,
  behind: readonly number[] = settings.padding,
  clamp: Clamp | null = null,
  packed = 0,
  post: PostOps | null = null,
): Tensor {
  checkTypes(operator, input, weight, bias)
  if (holdsComplex(input)) {
    return complexBilinear((x, w, b) => convolve(operator, x, contiguousOf(w), b, settings, behind), input, weight, bias)
  }
  checkConv(operator, input, weight, bias, settings, false)
  const sizes = convSizes(operator, input, weight, settings, behind)
  const { type } = input
  const { groups } = settings
  const rounded = features.rounding && type === DType.float32 ? roundedFilter(weight, groups) : null
  if (rounded !== null) {
    const shape = [input.shape[0]!, rounded.n, ...sizes]
    return convolveRounded(input, weight, rounded, bias, settings, shape, clamp, post === null ? null : postFields(post, shape, CONV_AXES))
  }
  const seesAll = isHalf(type) && clamp === null && groups === 1 && settings.padding.every((size) => size === 0)
  const rows = seesAll ? halfWindows(input, weight, bias) : null
  if (rows !== null) return viewOf(rows, [...rows.shape, ...sizes], [rows.shape[1]!, ...sizes.map(() => 1), 1])
  const depthwise = groups > 1 && input.shape[1] === groups
  if (type === DType.bfloat16 && clamp === null && !depthwise) return convolveBfloat16(input, weight, bias, settings, sizes)
  const inner = computeTypeOrLong(type)
  const channels = weight.shape[0]!
  const result = empty([input.shape[0]!, channels, ...sizes], inner)
  if (result.numel === 0) return castTo(result, type)
  const x = dense(input, inner)
  const w = dense(weight, inner)
  let pack = packed
  // depthwise filters are read as they are
  if (pack === 0 && w === weight && !depthwise) {
    pack = packedWeight(weight, PackSide.a, groups, channels / groups, weight.numel / channels)
  }
  const frame = {
    dtype: inner,
    ...geometry(input, weight, result, settings),
    packed: pack === 0 ? 0 : 1,
    ...clampFields(clamp),
    input: x.address,
    weight: pack === 0 ? w.address : pack,
    bias: denseAddress(bias, inner),
    output: result.address,
  }
  kernels.conv(frame, post === null ? null : postFields(post, result.shape, CONV_AXES))
  return castTo(result, type)
}

/** True where `convolve` can use a packed weight. One that it rounds is packed by itself. */
export function packs(weight: Tensor, groups: number): boolean {
  if (features.rounding && isRoundedFilter(weight, groups)) return false
  return !(groups > 1 && weight.shape[1] === 1)
}

/** Transposed convolution of [n, c, spatial...] with bias and clamp. */
export function convolveTransposed(
  operator: string,
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  settings: ConvSettings,
  outputPadding: readonly number[],
  clamp: Clamp | null = null,
): Tensor {
  checkTypes(operator, input, weight, bias)
  if (holdsComplex(input)) {
    return complexBilinear((x, w, b) => convolveTransposed(operator, x, w, b, settings, outputPadding), input, weight, bias)
  }
  checkConv(operator, input, weight, bias, settings, true)
  const sizes = transposedSizes(operator, input, weight, settings, outputPadding)
  const { type } = input
  const inner = computeTypeOrLong(type)
  const result = empty([input.shape[0]!, weight.shape[1]! * settings.groups, ...sizes], inner)
  if (result.numel > 0) {
    const x = contiguousOf(castTo(input, inner))
    kernels.conv_transpose({
      dtype: inner,
      ...geometry(input, weight, result, settings),
      ...clampFields(clamp),
      input: x.address,
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      output: result.address,
    })
  }
  return castTo(result, type)
}
