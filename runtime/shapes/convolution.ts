import { check } from '../error.js'
import { shapeText } from '../tensor/shape.js'
import type { Tensor } from '../tensor/tensor.js'

/** What a convolution is called with, its lists as long as the input has spatial dimensions. */
export interface ConvSettings {
  readonly stride: readonly number[]
  /** Zeros in front of each dimension. */
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly groups: number
}

/** A list of one setting for every dimension, or of one each. Throws for other lengths. */
export function perDimension(operator: string, name: string, values: readonly number[], count: number): readonly number[] {
  if (values.length === count) return values
  check(values.length === 1, () => `${operator}: expected ${name} with 1 or ${count} elements, found ${values.length}`)
  return new Array<number>(count).fill(values[0]!)
}

/** `values` behind as many `fill` as make three of them: the kernels know depth, height and width. Those before `from` are left out. */
export function three(values: readonly number[], fill: number, from = 0): readonly number[] {
  const n = values.length - from
  if (n === 3) return from === 0 ? values : values.slice(from)
  return n === 2 ? [fill, values[from]!, values[from + 1]!] : [fill, fill, values[from]!]
}

/** The kernels of windows count positions, and one step further, in 32 bits. */
const MOST = 2 ** 30

/** Throws INVALID_ARGUMENT where a value is smaller than `least`, or more than kernels count to. */
export function checkRange(operator: string, name: string, values: readonly number[], least: number): void {
  check(
    values.every((v) => v >= least && v <= MOST),
    () => `${operator}: expected ${name} of ${least} to ${MOST}, found ${shapeText(values)}`,
  )
}

/** Throws INVALID_ARGUMENT where a size, its padding included, is more than kernels count to. */
export function checkExtent(operator: string, size: number): void {
  check(size <= MOST, () => `${operator}: expected sizes of at most ${MOST} with their padding, found ${size}`)
}

/** Throws unless input [n, c, ...], weight and bias fit together. `transposed` weights are [in, out / groups, ...]. */
export function checkConv(
  operator: string,
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  s: ConvSettings,
  transposed: boolean,
): void {
  checkRange(operator, 'strides', s.stride, 1)
  checkRange(operator, 'dilations', s.dilation, 1)
  checkRange(operator, 'paddings', s.padding, 0)
  checkRange(operator, 'groups', [s.groups], 1)
  check(
    input.dim === weight.dim && input.dim >= 3 && input.dim <= 5,
    () =>
      `${operator}: expected input and weight of the same 3 to 5 dimensions, found shapes ${shapeText(input.shape)} and ${shapeText(weight.shape)}`,
  )
  const count = input.dim - 2
  check(
    s.stride.length === count && s.dilation.length === count && s.padding.length === count,
    () =>
      `${operator}: expected ${count} strides, dilations and paddings, found ${s.stride.length}, ${s.dilation.length} and ${s.padding.length}`,
  )
  const [first, second] = weight.shape as [number, number]
  check(
    first % s.groups === 0 && first >= s.groups,
    () => `${operator}: ${first} channels of the weight cannot be split into ${s.groups} groups`,
  )
  const wanted = transposed ? first : second * s.groups
  check(
    input.shape[1] === wanted,
    () =>
      `${operator}: expected input with ${wanted} channels for a weight of shape ${shapeText(weight.shape)} and ${s.groups} groups, found shape ${shapeText(input.shape)}`,
  )
  const outputs = transposed ? second * s.groups : first
  check(
    bias === null || (bias.dim === 1 && bias.shape[0] === outputs),
    () => `${operator}: expected a bias of shape [${outputs}], found ${bias === null ? '' : shapeText(bias.shape)}`,
  )
}

/** Spatial sizes of a convolution's result; `behind` is the padding at the ends. */
export function convSizes(operator: string, input: Tensor, weight: Tensor, s: ConvSettings, behind: readonly number[]): number[] {
  return s.stride.map((stride, d) => {
    const size = input.shape[d + 2]! + s.padding[d]! + behind[d]!
    const window = s.dilation[d]! * (weight.shape[d + 2]! - 1) + 1
    checkExtent(operator, size)
    check(size >= window && window > 0, () => `${operator}: a kernel that spans ${window} does not fit into a padded input of ${size}`)
    return Math.floor((size - window) / stride) + 1
  })
}

/** Spatial sizes of a transposed convolution's result. */
export function transposedSizes(
  operator: string,
  input: Tensor,
  weight: Tensor,
  s: ConvSettings,
  outputPadding: readonly number[],
): number[] {
  return s.stride.map((stride, d) => {
    const extra = outputPadding[d]!
    check(
      extra >= 0 && (extra < stride || extra < s.dilation[d]!),
      () => `${operator}: expected an output padding smaller than stride or dilation, found ${extra}`,
    )
    const whole = (input.shape[d + 2]! - 1) * stride + s.dilation[d]! * (weight.shape[d + 2]! - 1) + extra + 1
    const size = whole - 2 * s.padding[d]!
    checkExtent(operator, whole)
    check(size > 0, () => `${operator}: the result would have size ${size} in dimension ${d + 2}`)
    return size
  })
}
