import { check, PtliteError } from '../../../error.js'
import * as kernels from '../../../native/generated/kernels.js'
import { DType, dtypeName, isFloating } from '../../../tensor/dtype.js'
import { numelOf, shapeText } from '../../../tensor/shape.js'
import { squeeze, unsqueeze } from '../../../tensor/view.js'
import { empty, type Tensor } from '../../../tensor/tensor.js'
import { checkExtent, checkRange, perDimension, three } from '../../../shapes/convolution.js'
import { castTo, laidOutAsSuggested } from '../../support/copy.js'
import { computeType, dense } from '../../support/real.js'

/** Windows of a pooling operator. */
export interface PoolSettings {
  readonly window: readonly number[]
  readonly stride: readonly number[]
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly ceil: boolean
}

/** Lists of one element serve all dimensions; an empty stride is the window. */
export function poolSettings(
  operator: string,
  count: number,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceil: boolean,
): PoolSettings {
  const all = perDimension(operator, 'kernel_size', window, count)
  return {
    window: all,
    stride: stride.length === 0 ? all : perDimension(operator, 'stride', stride, count),
    padding: perDimension(operator, 'padding', padding, count),
    dilation: perDimension(operator, 'dilation', dilation, count),
    ceil,
  }
}

const ONES = [1, 1, 1]
/** Kernels find the windows of adaptive pooling themselves. */
const ADAPTIVE: PoolSettings = { window: ONES, stride: ONES, padding: [0, 0, 0], dilation: ONES, ceil: false }

/** The last `full` dimensions must not be empty. */
export function checkInput(operator: string, input: Tensor, count: number, full = count + 1): void {
  check(
    (input.dim === count + 1 || input.dim === count + 2) && input.shape.slice(-full).every((size) => size > 0),
    () => `${operator}: expected a non-empty input with ${count + 1} or ${count + 2} dimensions, found shape ${shapeText(input.shape)}`,
  )
}

/** Sizes of the pooled dimensions; smaller ones than `least` are errors. */
export function pooledSizes(operator: string, input: readonly number[], s: PoolSettings, least = 1): number[] {
  const count = s.window.length
  checkRange(operator, 'kernel sizes', s.window, 1)
  checkRange(operator, 'strides', s.stride, 1)
  checkRange(operator, 'dilations', s.dilation, 1)
  check(
    s.padding.every((p, d) => p >= 0 && p <= s.window[d]! / 2),
    () => `${operator}: expected paddings of at most half the kernel ${shapeText(s.window)}, found ${shapeText(s.padding)}`,
  )
  return s.window.map((window, d) => {
    const size = input[input.length - count + d]!
    const stride = s.stride[d]!
    const padding = s.padding[d]!
    checkExtent(operator, size + 2 * padding)
    const span = size + 2 * padding - s.dilation[d]! * (window - 1) - 1
    let out = Math.floor((span + (s.ceil ? stride - 1 : 0)) / stride) + 1
    // the last window must start inside the input or the padding in front
    if (s.ceil && (out - 1) * stride >= size + padding) out--
    check(out >= least, () => `${operator}: the kernel does not fit into an input of size ${size}`)
    return out
  })
}

function checkPoolType(operator: string, type: DType, integers: readonly DType[] = []): void {
  if (!isFloating(type) && !integers.includes(type))
    throw new PtliteError('INVALID_DTYPE', `${operator}: no pooling of ${dtypeName(type)} tensors`)
}

/** Integers that max_pool2d and its kin take; max_pool1d takes none. */
const INTEGERS = [DType.uint8, DType.int8, DType.int16, DType.int32, DType.int64]

interface Launch {
  readonly mode: number
  readonly adaptive: boolean
  readonly sizes: readonly number[]
  readonly settings: PoolSettings
  readonly countIncludePad: boolean
  readonly divisor: number
  readonly indices: boolean
}

function launch(input: Tensor, p: Launch): [Tensor, Tensor | null] {
  const inner = isFloating(input.type) ? computeType(input.type) : DType.int64
  const { window, stride, padding, dilation } = p.settings
  const count = p.sizes.length
  const lead = input.shape.slice(0, -count)
  const result = empty([...lead, ...p.sizes], inner)
  const indices = p.indices ? empty(result.shape, DType.int64) : null
  if (result.numel > 0) {
    const x = dense(input, inner)
    kernels.pool({
      dtype: inner,
      mode: p.mode,
      adaptive: p.adaptive ? 1 : 0,
      count_include_pad: p.countIncludePad ? 1 : 0,
      planes: numelOf(lead),
      in: three(input.shape.slice(-count), 1),
      out: three(p.sizes, 1),
      window: three(window, 1),
      stride: three(stride, 1),
      padding: three(padding, 0),
      dilation: three(dilation, 1),
      divisor: p.divisor,
      input: x.address,
      output: result.address,
      indices: indices === null ? 0 : indices.address,
    })
  }
  const pooled = castTo(result, input.type)
  if (!keepsFormat(p)) return [pooled, indices]
  return [inFormatOf(input, pooled, count), indices === null ? null : inFormatOf(input, indices, count)]
}

/** Whether results have channels last where the input does: in PyTorch, means and adaptive pools of volumes lie in rows, as largest elements of signals alone do. */
function keepsFormat({ mode, adaptive, sizes: { length: count }, indices }: Launch): boolean {
  const isLargest = mode === kernels.PoolMode.max && !adaptive
  return count === 2 || (count === 3 ? isLargest : indices || !isLargest)
}

/** Signals count as images of one row. */
function inFormatOf(input: Tensor, result: Tensor, count: number): Tensor {
  if (count > 1 || input.dim !== 3) return laidOutAsSuggested(result, input)
  const image = (t: Tensor): Tensor => unsqueeze(t, 2)
  return squeeze(laidOutAsSuggested(image(result), image(input)), 2)
}

/** Largest element of each window, and where asked its flat position in the plane. */
export function maxPool(operator: string, input: Tensor, settings: PoolSettings, indices: boolean): [Tensor, Tensor | null] {
  checkInput(operator, input, settings.window.length)
  const sizes = pooledSizes(operator, input.shape, settings, operator === 'max_pool1d' ? 0 : 1)
  checkPoolType(operator, input.type, operator === 'max_pool1d' ? [] : INTEGERS)
  return launch(input, { mode: kernels.PoolMode.max, adaptive: false, sizes, settings, countIncludePad: false, divisor: 0, indices })
}

/** Mean of each window; `divisor` replaces the number of elements unless 0. */
export function averagePool(operator: string, input: Tensor, settings: PoolSettings, countIncludePad: boolean, divisor: number): Tensor {
  checkInput(operator, input, settings.window.length)
  const sizes = pooledSizes(operator, input.shape, settings)
  checkPoolType(operator, input.type, [DType.int64])
  return launch(input, { mode: kernels.PoolMode.average, adaptive: false, sizes, settings, countIncludePad, divisor, indices: false })[0]
}

/** Pools to the sizes given, with windows as even as they can be. */
export function adaptivePool(
  operator: string,
  count: number,
  mode: number,
  input: Tensor,
  sizes: readonly number[],
  indices: boolean,
): [Tensor, Tensor | null] {
  checkInput(operator, input, count, mode === kernels.PoolMode.average ? count : count + 1)
  check(
    sizes.length === count && sizes.every((size) => size >= 0),
    () => `${operator}: expected ${count} output sizes of 0 or more, found ${shapeText(sizes)}`,
  )
  checkPoolType(operator, input.type)
  return launch(input, { mode, adaptive: true, sizes, settings: ADAPTIVE, countIncludePad: false, divisor: 0, indices })
}
