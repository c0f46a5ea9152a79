import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { DType, isIntegral } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { noteRead } from '../../tensor/observe.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { fake_quantize_per_channel_affine_cachemask, fake_quantize_per_tensor_affine_cachemask, unchanged } from './fake-quantize.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import { filledWith } from './support/host-tensor.js'
import { chooseQuant, numbersOf } from '../support/quantization.js'
import type { CPU } from '../support/generated/interfaces.js'
import { bestRange, rangeOf } from './support/range-search.js'
import { resize } from '../../tensor/out.js'

/** Scales and zero points from data that goes by. */

/** Scale and zero point for quint8 over the range of a tensor (torch._choose_qparams_per_tensor). */
export function _choose_qparams_per_tensor(x: Tensor, reduceRange: boolean): [number, number] {
  check(x.numel > 0, () => '_choose_qparams_per_tensor: a tensor without elements has no range')
  const source = contiguousOf(castTo(x, DType.float32))
  noteRead(x)
  const { min, max } = kernels.float_range({ n: source.numel, in: source.address })
  const { scale, zeroPoint } = chooseQuant(min, max, 0, reduceRange ? 127 : 255, false, true)
  return [scale, zeroPoint]
}

/** Most steps of a search for bounds. */
const MAX_BINS = 2 ** 16

/** Bounds, the upper one first, between which the first `count` elements are quantized with little error (torch.choose_qparams_optimized). */
export function choose_qparams_optimized(input: Tensor, count: number, bins: number, ratio: number, bits: number): [Tensor, Tensor] {
  const what = 'choose_qparams_optimized'
  if (input.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected a float32 tensor, found ${input.dtype}`)
  check(count > 0 && count <= input.numel, () => `${what}: expected a count from 1 to ${input.numel}, found ${count}`)
  check(bins > 0 && bins <= MAX_BINS, () => `${what}: expected 1 to ${MAX_BINS} bins, found ${bins}`)
  check(bits > 0 && bits < 31, () => `${what}: expected 1 to 30 bits, found ${bits}`)
  const row = (readTensor(input) as Float32Array).subarray(0, count)
  const [min, max] = bestRange(row, rangeOf(row), bins, ratio, 2 ** bits - 1)
  return [filledWith(Float32Array.of(max)), filledWith(Float32Array.of(min))]
}

interface Observer {
  readonly runningMin: Tensor
  readonly runningMax: Tensor
  readonly scale: Tensor
  readonly zeroPoint: Tensor
}

function isOn(t: Tensor, what: string): boolean {
  check(t.numel === 1, () => `${what}: expected one element, found ${t.numel}`)
  return Math.trunc(numbersOf(t)[0]!) !== 0
}

/** Smallest and largest of each of `rows` rows; NaN where one has any. */
function ranges(x: Tensor, rows: number): [Float32Array, Float32Array] {
  const data = readTensor(x) as Float32Array
  const width = data.length / rows
  const [low, high] = [new Float32Array(rows), new Float32Array(rows)]
  for (let r = 0; r < rows; r++) [low[r], high[r]] = rangeOf(data.subarray(r * width, (r + 1) * width)) as [number, number]
  return [low, high]
}

/** Moves what was seen towards the range of the data; bounds that were infinite are replaced. */
function moveTowards(running: Tensor, seen: Float32Array, constant: number): void {
  const before = readTensor(running) as Float32Array
  const after = Float32Array.from(seen, (value, i) => {
    const old = before[i]!
    return Math.abs(old) === Infinity ? value : old + Math.fround(Math.fround(constant) * Math.fround(value - old))
  })
  const next = empty(running.shape, DType.float32)
  writeTensor(next, after)
  copyInto(running, next)
}

/** What an observer starts with. */
const START = { runningMin: Infinity, runningMax: -Infinity, scale: 1, zeroPoint: 0 } as const

function fits(t: Tensor, name: keyof Observer, rows: number, perRow: boolean): void {
  if (perRow && t.numel === 0) fillScalar(resize(t, [rows]), name === 'zeroPoint' ? 0 : new Float(START[name]))
  check(t.numel === rows, () => `fused_moving_avg_obs_fake_quant: expected ${rows} elements of ${name}, found ${t.numel}`)
}

/**
 * Updates the observer from `x` where `observe`, then its scale and zero point, and quantizes `x` with them, where `quantize`: the result
 * and the mask of what was not saturated (at::_fused_moving_avg_obs_fq_helper). Empty tensors of the observer grow to the number of rows.
 */
export const _fused_moving_avg_obs_fq_helper: CPU['_fused_moving_avg_obs_fq_helper'] = (
  x,
  observe,
  quantize,
  runningMin,
  runningMax,
  scale,
  zeroPoint,
  constant,
  min,
  max,
  axis,
  perRow,
  symmetric,
) => {
  const what = 'fused_moving_avg_obs_fake_quant'
  const observer: Observer = { runningMin, runningMax, scale, zeroPoint }
  check(!perRow || (axis === 0 && x.dim >= 2), () => `${what}: expected rows along dimension 0, found dimension ${axis}`)
  const rows = perRow ? x.shape[0]! : 1
  for (const t of [x, runningMin, runningMax]) {
    if (t.type !== DType.float32) throw new PtliteError('INVALID_DTYPE', `${what}: expected float32 tensors, found ${t.dtype}`)
  }
  for (const [name, t] of Object.entries(observer) as [keyof Observer, Tensor][]) fits(t, name, rows, perRow)
  check(x.numel > 0, () => `${what}: a tensor without elements has no range`)
  if (isOn(observe, what)) {
    const [low, high] = ranges(x, rows)
    moveTowards(runningMin, low, constant)
    moveTowards(runningMax, high, constant)
  }
  if (!isOn(quantize, what)) return unchanged(x)
  choose(observer, min, max, symmetric)
  if (perRow) return fake_quantize_per_channel_affine_cachemask(x, scale, asZeroPoints(zeroPoint), 0, min, max)
  return fake_quantize_per_tensor_affine_cachemask(x, numbersOf(scale)[0]!, numbersOf(zeroPoint)[0]!, min, max)
}

function asZeroPoints(t: Tensor): Tensor {
  return isIntegral(t.type) ? castTo(t, DType.int32) : t
}

/** Scales and zero points from what was seen. */
function choose({ runningMin, runningMax, scale, zeroPoint }: Observer, min: number, max: number, symmetric: boolean): void {
  const [low, high] = [numbersOf(runningMin), numbersOf(runningMax)]
  const chosen = low.map((from, i) => chooseQuant(from, high[i]!, min, max, symmetric))
  const into = (t: Tensor, values: number[]): void => {
    const next = empty(t.shape, DType.float32)
    writeTensor(next, Float32Array.from(values))
    copyInto(t, next)
  }
  into(scale, chosen.map((q) => q.scale)) // prettier-ignore
  into(zeroPoint, chosen.map((q) => q.zeroPoint)) // prettier-ignore
}

export function fused_moving_avg_obs_fake_quant(...given: Parameters<typeof _fused_moving_avg_obs_fq_helper>): Tensor {
  return _fused_moving_avg_obs_fq_helper(...given)[0]
}
