import { check } from '../../error.js'
import { cacheSizes } from '../../native/caches.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import { readTensor, writeTensor } from '../../tensor/data.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { BLOCK, blocksOf, groupedFilter, groupSpan, type Groups, isRows, WINOGRAD_POSITIONS } from '../../shapes/blocks.js'
import { stripOf, winogradStrip } from '../../shapes/tiles.js'
import { contiguousOf } from '../support/copy.js'
import type { CPU } from '../support/generated/interfaces.js'
import { applySteps } from './compiled.js'
import { clampFields, limitsOf } from './support/limits.js'
import { pooledSizes, poolSettings } from './support/pool.js'
import { type BlockAxes, postFields, type PostFields, type PostOps, postOpsOf, takesPostOps } from '../../shapes/post-ops.js'

/** A dense float32 tensor with this many dimensions. Throws INVALID_ARGUMENT for others. */
export function floats(operator: string, name: string, t: Tensor, dim: number, last?: number): Tensor {
  check(
    t.type === DType.float32 && t.dim === dim && (last === undefined || t.shape[dim - 1] === last),
    () =>
      `${operator}: expected a float32 ${name} with ${dim} dimensions${last === undefined ? '' : `, the last of ${last}`}, found ${t.dtype}[${t.shape.join(', ')}]`,
  )
  return contiguousOf(t)
}

/** A vector with an element for each lane of the output blocks. */
export function lanes(operator: string, t: Tensor | null, blocks: number): number {
  if (t === null) return 0
  const dense = floats(operator, 'bias', t, 1)
  check(dense.numel === blocks * BLOCK, () => `${operator}: expected a bias of ${blocks * BLOCK} elements, found ${dense.numel}`)
  return dense.address
}

/** Address of a tensor in the form of the result; 0 where there is none. */
export function residualOf(operator: string, residual: Tensor | null, result: Tensor): number {
  if (residual === null) return 0
  const dense = floats(operator, 'residual', residual, result.dim, BLOCK)
  check(
    dense.shape.every((size, d) => size === result.shape[d]),
    () => `${operator}: expected a residual of shape [${result.shape.join(', ')}], found [${dense.shape.join(', ')}]`,
  )
  return dense.address
}

/** Batches are planes of one block, rows its pixels, columns its lanes. */
const blockAxes = (rank: number): BlockAxes => ({ row: 2, column: rank - 1 })

/** Runs a kernel with the fields of element-wise steps, where it can take them, or without, and applies them afterwards. */
function withSteps(result: Tensor, post: PostOps | null, run: (fields: PostFields | null) => void): Tensor {
  const axes = blockAxes(result.dim)
  const fits = post !== null && takesPostOps(post, result.shape, axes)
  run(fits ? postFields(post, result.shape, axes) : null)
  return post === null || fits ? result : applySteps(result, post)
}

/** A tensor in blocks: images with 5 dimensions, or volumes with 6. */
function inBlocks(operator: string, t: Tensor): Tensor {
  return floats(operator, 'tensor', t, Math.min(Math.max(t.dim, 5), 6), BLOCK)
}

/** A filter in blocks, of float32 or 16 bits. */
function filterOf(operator: string, t: Tensor): Tensor {
  if (!isHalf(t.type)) return inBlocks(operator, t)
  check(
    (t.dim === 5 || t.dim === 6) && t.shape[t.dim - 1] === BLOCK,
    () => `${operator}: expected a filter with 5 or 6 dimensions, the last of ${BLOCK}, found ${t.dtype}[${t.shape.join(', ')}]`,
  )
  return contiguousOf(t)
}

/** A list per dimension of images as one of volumes, whose depth in front of it is `first`. */
const withDepth = (list: readonly number[], first: number): number[] => (list.length === 2 ? [first, ...list] : [...list])

/** Spatial sizes of a convolution's result, after checking what it is called with. */
export function outputSizes(
  operator: string,
  input: readonly number[],
  kernel: readonly number[],
  stride: readonly number[],
  padding: readonly number[],
  dilation: readonly number[],
): number[] {
  const dims = kernel.length
  const good = (list: readonly number[], least: number): boolean => list.length === dims && list.every((v) => v >= least && v < 2 ** 20)
  check(
    good(stride, 1) && good(dilation, 1) && good(padding, 0) && good(kernel, 1),
    () => `${operator}: expected ${dims} positive strides and dilations, and ${dims} paddings of 0 or more`,
  )
  const sizes = kernel.map((_, d) => Math.floor((input[d]! + 2 * padding[d]! - dilation[d]! * (kernel[d]! - 1) - 1) / stride[d]!) + 1)
  check(
    sizes.every((v) => v > 0) && input.every((v) => v > 0),
    () => `${operator}: a kernel of [${kernel.join(', ')}] does not fit into an input of [${input.join(', ')}]`,
  )
  return sizes
}

/** [n, c, h, w] or [n, c, d, h, w] in blocks of channels, zeros in the lanes that are left. Channels of images may come last in memory. */
export function to_blocked(self: Tensor): Tensor {
  const [batch, channels, ...spatial] = self.shape as [number, number, ...number[]]
  const rows = self.type === DType.float32 && isRows(self.shape, self.strides)
  const x = rows ? self : floats('ptlite::to_blocked', 'tensor', self, self.dim === 5 ? 5 : 4)
  const result = empty([batch, blocksOf(channels), ...spatial, BLOCK], DType.float32)
  if (x.numel > 0) reorder(x, result, channels, true, rows)
  return result
}

/** The first `channels` channels as [n, c, h, w] or [n, c, d, h, w]. */
export function from_blocked(self: Tensor, channels: number): Tensor {
  return outOfBlocks('ptlite::from_blocked', self, channels, false)
}

/** The first `channels` channels as [n, h, w, c] or [n, d, h, w, c]. */
export function blocked_rows(self: Tensor, channels: number): Tensor {
  return outOfBlocks('ptlite::blocked_rows', self, channels, true)
}

function outOfBlocks(operator: string, self: Tensor, channels: number, rows: boolean): Tensor {
  const x = inBlocks(operator, self)
  check(
    channels >= 0 && blocksOf(channels) === x.shape[1],
    () => `${operator}: ${channels} channels do not take ${x.shape[1]} blocks of ${BLOCK}`,
  )
  const batch = x.shape[0]!
  const spatial = x.shape.slice(2, -1)
  const result = empty(rows ? [batch, ...spatial, channels] : [batch, channels, ...spatial], DType.float32)
  if (result.numel > 0) reorder(x, result, channels, false, rows)
  return result
}

function reorder(from: Tensor, to: Tensor, channels: number, toBlocks: boolean, rows: boolean): void {
  const [batch, , ...spatial] = (toBlocks ? to : from).shape.slice(0, -1) as [number, number, ...number[]]
  const flags = { to_blocks: toBlocks ? 1 : 0, rows: rows ? 1 : 0 }
  kernels.blocked_reorder({ batch, channels, pixels: numelOf(spatial), ...flags, input: from.address, output: to.address })
}

/** A weight of a convolution of images, with 4 dimensions, or of volumes, with 5. */
function weightOf(operator: string, weight: Tensor): Tensor {
  return floats(operator, 'weight', weight, weight.dim === 5 ? 5 : 4)
}

/** Filters [outputs, inputs, h, w] as [outputs / 16, h, w, inputs, 16]; those of volumes have a depth in front of the height. */
export function blocked_filter(weight: Tensor): Tensor {
  const w = weightOf('ptlite::blocked_filter', weight)
  const [outputs, inputs, ...kernel] = w.shape as [number, number, ...number[]]
  const result = empty([blocksOf(outputs), ...kernel, inputs, BLOCK], DType.float32)
  if (w.numel > 0) kernels.blocked_filter({ outputs, inputs, taps: numelOf(kernel), input: w.address, output: result.address })
  return result
}

/**
 * Filters [outputs, inputs / groups, h, w] of a convolution in groups as `blocked_grouped_convolution` reads them:
 * [outputs / 16, h, w, depth, 16], with zeros for channels of other groups.
 */
export function blocked_grouped_filter(weight: Tensor, groups: number): Tensor {
  const operator = 'ptlite::blocked_grouped_filter'
  const w = weightOf(operator, weight)
  const [all, inputs, ...kernel] = w.shape as [number, number, ...number[]]
  check(groups > 0 && all % groups === 0 && w.numel > 0, () => `${operator}: ${groups} groups do not share out ${all} filters`)
  const shape: Groups = { count: groups, inputs, outputs: all / groups }
  const { within, depth } = groupedFilter(shape)
  if (within || depth === inputs) return blocked_filter(w)
  const taps = numelOf(kernel)
  const from = readTensor(w) as Float32Array
  const data = new Float32Array(all * depth * taps)
  for (let output = 0; output < all; output++) {
    const start = Math.floor(groupSpan(shape, Math.floor(output / BLOCK)).first / BLOCK) * BLOCK
    const at = output * depth + Math.floor(output / shape.outputs) * inputs - start
    data.set(from.subarray(output * inputs * taps, (output + 1) * inputs * taps), at * taps)
  }
  const spread = empty([all, depth, ...kernel], DType.float32)
  writeTensor(spread, data)
  return blocked_filter(spread)
}

/**
 * Convolution of [n, c / 16, h, w, 16], or of [n, c, h, w] as it is, or of volumes with a depth in front of the height, with bias, a residual that is added and limits; the filter
 * comes from `blocked_filter`, the bias has an element for each of its lanes. Steps work on rows of the result while they are in the caches; their operands
 * are in blocks, too.
 */
export const blocked_convolution: CPU['blocked_convolution'] = (
  input,
  filter,
  bias,
  residual,
  stride,
  padding,
  dilation,
  min,
  max,
  ...steps
) => {
  const operator = 'ptlite::blocked_convolution'
  const post = postOpsOf(operator, ...steps)
  return convolve(operator, input, filter, bias, residual, stride, padding, dilation, null, min, max, post)
}

/**
 * The same in `groups` groups of `inputs` channels that give `outputs` each, from blocks of channels; the filter comes from
 * `blocked_grouped_filter`.
 */
export const blocked_grouped_convolution: CPU['blocked_grouped_convolution'] = (
  input,
  filter,
  bias,
  residual,
  stride,
  padding,
  dilation,
  groups,
  inputs,
  outputs,
  min,
  max,
  ...steps
) => {
  const shape = { count: groups, inputs, outputs }
  const operator = 'ptlite::blocked_grouped_convolution'
  const post = postOpsOf(operator, ...steps)
  return convolve(operator, input, filter, bias, residual, stride, padding, dilation, shape, min, max, post)
}

function convolve(
  operator: string,
  input: Tensor,
  filter: Tensor,
  bias: Tensor | null,
  residual: Tensor | null,
  stride: number[],
  padding: number[],
  dilation: number[],
  groups: Groups | null,
  min: number,
  max: number,
  post: PostOps | null,
): Tensor {
  const w = filterOf(operator, filter)
  const plain = input.dim === w.dim - 1 && groups === null
  const x = plain ? floats(operator, 'input', input, w.dim - 1) : floats(operator, 'input', input, w.dim, BLOCK)
  const [batch, planes, ...spatial] = x.shape.slice(0, w.dim - 1) as [number, number, ...number[]]
  const blocks = w.shape[0]!
  const kernel = w.shape.slice(1, -2)
  const depth = w.shape[w.dim - 2]!
  if (groups !== null) checkGroups(operator, groups, blocks, depth)
  const channels = groups === null ? depth : groups.count * groups.inputs
  check(
    channels > 0 && (plain ? planes === channels : planes === blocksOf(channels)),
    () => `${operator}: a filter of ${channels} channels does not fit an input of shape [${x.shape.join(', ')}]`,
  )
  const out = outputSizes(operator, spatial, kernel, stride, padding, dilation)
  const result = empty([batch, blocks, ...out, BLOCK], DType.float32)
  const sum = residualOf(operator, residual, result)
  const start = lanes(operator, bias, blocks)
  if (result.numel === 0) return result
  const sizes = {
    in: withDepth(spatial, 1),
    kernel: withDepth(kernel, 1),
    stride: withDepth(stride, 1),
    padding: withDepth(padding, 0),
    dilation: withDepth(dilation, 1),
    out: withDepth(out, 1),
  }
  const { strip, byFilters } = stripOf({ plain, channels, depth, blocks, ...sizes }, cacheSizes())
  const frame = {
    batch,
    in_channels: channels,
    out_blocks: blocks,
    groups: groups?.count ?? 1,
    group_outputs: groups?.outputs ?? 0,
    depth,
    plain: plain ? 1 : 0,
    filter_dtype: w.type,
    ...clampFields(limitsOf(min, max)),
    strip,
    by_filters: byFilters ? 1 : 0,
    ...sizes,
    input: x.address,
    filter: w.address,
    bias: start,
    residual: sum,
    output: result.address,
  }
  return withSteps(result, post, (fields) => kernels.blocked_conv(frame, fields))
}

/** Throws unless a filter of so many output blocks and channels per tap is one for these groups, of which there are two at least. */
function checkGroups(operator: string, groups: Groups, blocks: number, depth: number): void {
  const { count, inputs, outputs } = groups
  const good = [count - 1, inputs, outputs].every((v) => v >= 1 && v < 2 ** 20) && blocksOf(count * outputs) === blocks
  check(
    good && groupedFilter(groups).depth === depth,
    () => `${operator}: a filter of ${blocks} blocks and ${depth} channels is none for ${count} groups of ${inputs} to ${outputs} channels`,
  )
}

/** One filter per channel: [channels / 16, h, w, 1, 16], from `blocked_filter`. */
export const blocked_depthwise: CPU['blocked_depthwise'] = (input, filter, bias, stride, padding, dilation, min, max, ...steps) => {
  const operator = 'ptlite::blocked_depthwise'
  const post = postOpsOf(operator, ...steps)
  const x = floats(operator, 'input', input, 5, BLOCK)
  const w = floats(operator, 'filter', filter, 5, BLOCK)
  const [batch, blocks, ...spatial] = x.shape.slice(0, 4) as [number, number, number, number]
  const [outputs, height, width, channels] = w.shape as [number, number, number, number]
  check(
    outputs === blocks && channels === 1,
    () => `${operator}: expected a filter for each of ${blocks} blocks, found shape [${w.shape.join(', ')}]`,
  )
  const kernel = [height, width]
  const out = outputSizes(operator, spatial, kernel, stride, padding, dilation)
  const result = empty([batch, blocks, ...out, BLOCK], DType.float32)
  const start = lanes(operator, bias, blocks)
  if (result.numel === 0) return result
  const frame = {
    batch,
    blocks,
    ...clampFields(limitsOf(min, max)),
    in: spatial,
    kernel,
    stride,
    padding,
    dilation,
    out,
    input: x.address,
    filter: w.address,
    bias: start,
    output: result.address,
  }
  return withSteps(result, post, (fields) => kernels.blocked_depthwise(frame, fields))
}

/**
 * 3x3 filters [outputs, inputs, 3, 3] transformed for `winograd_convolution`: [36, outputs / 16, inputs, 16]; those of volumes,
 * [outputs, inputs, d, 3, 3], as [36, outputs / 16, d, inputs, 16].
 */
export function winograd_filter(weight: Tensor): Tensor {
  const w = weightOf('ptlite::winograd_filter', weight)
  const [outputs, inputs] = w.shape as [number, number]
  const slices = w.shape.slice(2, -2)
  check(w.shape.slice(-2).join() === '3,3', () => `ptlite::winograd_filter: expected filters of 3x3, found shape [${w.shape.join(', ')}]`)
  const result = empty([WINOGRAD_POSITIONS, blocksOf(outputs), ...slices, inputs, BLOCK], DType.float32)
  if (w.numel > 0) kernels.winograd_filter({ outputs, inputs, taps: numelOf(slices), input: w.address, output: result.address })
  return result
}

/** The same of filters of 16 bits in blocks, [outputs / 16, 3, 3, inputs, 16], or of volumes [outputs / 16, d, 3, 3, inputs, 16]. */
export function winograd_blocked_filter(filter: Tensor): Tensor {
  const operator = 'ptlite::winograd_blocked_filter'
  const w = filterOf(operator, filter)
  const [blocks, ...rest] = w.shape as [number, ...number[]]
  const [slices, inputs] = [rest.slice(0, -4), rest.at(-2)!]
  check(
    isHalf(w.type) && rest.slice(-4, -2).join() === '3,3',
    () => `${operator}: expected filters of 3x3 of 16 bits, found ${w.dtype}[${w.shape.join(', ')}]`,
  )
  const result = empty([WINOGRAD_POSITIONS, blocks, ...slices, inputs, BLOCK], DType.float32)
  if (w.numel > 0) {
    kernels.winograd_blocked_filter({ dtype: w.type, blocks, inputs, taps: numelOf(slices), input: w.address, output: result.address })
  }
  return result
}

/** A convolution of 3x3 in each slice with stride 1 by F(4x4, 3x3), otherwise as `blocked_convolution`; the filter comes from `winograd_filter`. */
export const winograd_convolution: CPU['winograd_convolution'] = (input, filter, bias, residual, padding, min, max, ...steps) => {
  const operator = 'ptlite::winograd_convolution'
  const post = postOpsOf(operator, ...steps)
  const x = inBlocks(operator, input)
  const w = floats(operator, 'filter', filter, x.dim - 1, BLOCK)
  const [batch, planes, ...spatial] = x.shape.slice(0, -1) as [number, number, ...number[]]
  const [positions, blocks] = w.shape as [number, number]
  const kernel = [...w.shape.slice(2, -2), 3, 3]
  const channels = w.shape[w.dim - 2]!
  check(
    positions === WINOGRAD_POSITIONS && channels > 0 && planes === blocksOf(channels),
    () => `${operator}: a filter of shape [${w.shape.join(', ')}] does not fit an input of shape [${x.shape.join(', ')}]`,
  )
  const ones = kernel.map(() => 1)
  const out = outputSizes(operator, spatial, kernel, ones, padding, ones)
  const result = empty([batch, blocks, ...out, BLOCK], DType.float32)
  const sum = residualOf(operator, residual, result)
  const start = lanes(operator, bias, blocks)
  if (result.numel === 0) return result
  const frame = {
    batch,
    in_channels: channels,
    out_blocks: blocks,
    ...clampFields(limitsOf(min, max)),
    ...winogradStrip(
      { inBlocks: planes, outBlocks: blocks, channels, taps: withDepth(kernel, 1)[0]!, out: withDepth(out, 1) },
      cacheSizes(),
    ),
    taps: withDepth(kernel, 1)[0]!,
    in: withDepth(spatial, 1),
    padding: withDepth(padding, 0),
    out: withDepth(out, 1),
    input: x.address,
    filter: w.address,
    bias: start,
    residual: sum,
    output: result.address,
  }
  return withSteps(result, post, (fields) => kernels.winograd_conv(frame, fields))
}

function pool(
  operator: string,
  mode: number,
  self: Tensor,
  window: number[],
  stride: number[],
  padding: number[],
  dilation: number[],
  ceil: boolean,
  countIncludePad: boolean,
): Tensor {
  const x = inBlocks(operator, self)
  const [batch, blocks, ...spatial] = x.shape.slice(0, -1) as [number, number, ...number[]]
  const s = poolSettings(operator, spatial.length, window, stride, padding, dilation, ceil)
  const out = pooledSizes(operator, spatial, s)
  const result = empty([batch, blocks, ...out, BLOCK], DType.float32)
  if (result.numel === 0) return result
  kernels.blocked_pool({
    mode,
    planes: batch * blocks,
    count_include_pad: countIncludePad ? 1 : 0,
    in: withDepth(spatial, 1),
    window: withDepth(s.window, 1),
    stride: withDepth(s.stride, 1),
    padding: withDepth(s.padding, 0),
    dilation: withDepth(s.dilation, 1),
    out: withDepth(out, 1),
    input: x.address,
    output: result.address,
  })
  return result
}

/** torch.max_pool2d and max_pool3d over blocks of channels. */
export const blocked_max_pool: CPU['blocked_max_pool'] = (self, window, stride, padding, dilation, ceilMode) =>
  pool('ptlite::blocked_max_pool', kernels.BlockedPool.max, self, window, stride, padding, dilation, ceilMode, false)

/** torch.avg_pool2d and avg_pool3d over blocks of channels. */
export const blocked_avg_pool: CPU['blocked_avg_pool'] = (self, window, stride, padding, ceilMode, countIncludePad) =>
  pool('ptlite::blocked_avg_pool', kernels.BlockedPool.average, self, window, stride, padding, [1], ceilMode, countIncludePad)

/** Mean over all pixels of the first `channels` channels, as [n, c, 1, 1] or [n, c, 1, 1, 1]. */
export function blocked_mean(self: Tensor, channels: number): Tensor {
  const operator = 'ptlite::blocked_mean'
  const x = inBlocks(operator, self)
  const [batch, blocks, ...spatial] = x.shape.slice(0, -1) as [number, number, ...number[]]
  const pixels = numelOf(spatial)
  check(
    channels >= 0 && blocksOf(channels) === blocks && pixels > 0,
    () => `${operator}: expected ${channels} channels of at least one pixel, found shape [${x.shape.join(', ')}]`,
  )
  const result = empty([batch, channels, ...spatial.map(() => 1)], DType.float32)
  if (result.numel > 0) kernels.blocked_mean({ batch, channels, pixels, input: x.address, output: result.address })
  return result
}
