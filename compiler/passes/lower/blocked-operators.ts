import { WeightFormat } from '../../../runtime/native/generated/kernels.js'
import { isRows } from '../../../runtime/shapes/blocks.js'
import { isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { isHalf } from '../../../runtime/tensor/half.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import type { ConvolutionNode } from '../../graph/compiled.js'
import type { GraphNode, OperatorNode, TensorType, ValueId } from '../../graph/graph.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import { type Analysis, inputOf, integersArg, isDenseFloat, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import { type ConvolutionProblem, type ConvolutionStrategy, convolutionStrategy } from './convolution-strategy.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'
import { asConvolution } from '../layers.js'
import type { Target } from '../../target/target.js'
import type { PassOptions } from '../pass.js'

/** A convolution that blocks of channels suit. */
export interface BlockedConvolution {
  readonly kind: 'convolution'
  readonly strategy: ConvolutionStrategy
  readonly problem: ConvolutionProblem
  readonly input: ValueId
  /** Over planes. */
  readonly layer: ConvolutionNode
  readonly filter: Tensor
  /** The dtype of 16 bits that the filter is kept in; null for float32. */
  readonly narrow: DType | null
  readonly bias: Tensor | null
}

/** A node that can work on blocks of channels. */
export type Blockable =
  | BlockedConvolution
  /** Calls another operator in their place. */
  | { readonly kind: 'pool'; readonly input: ValueId }
  /** The same operator, with tensors in blocks. */
  | { readonly kind: 'elementwise'; readonly operands: readonly BlockedOperand[] }
  | { readonly kind: 'join'; readonly inputs: readonly ValueId[] }
  /** Reads blocks, and gives one number per channel. */
  | { readonly kind: 'mean'; readonly input: ValueId }

/** What a chain has no single step for: sums with a factor. */
const SUMS = new Set(['aten::add.Tensor', 'aten::sub.Tensor'])

/**
 * A tensor that an element-wise operator reads, and what it becomes:
 * - `blocks`: [n, c, h, w], or the same broadcast along pixels, in blocks;
 * - `channels`: a constant with a number for each channel, in blocks of [1, c / b, 1, 1, b];
 * - `plane`: [n, 1, h, w], the same for all channels, seen as [n, 1, h, w, 1].
 *
 * Volumes have a depth in front of the height.
 */
export interface BlockedOperand {
  readonly id: ValueId
  /** Which argument it is. */
  readonly place: number
  readonly as: 'blocks' | 'channels' | 'plane'
}

/** A dense [n, c, h, w] or [n, c, d, h, w] of float32 with elements. */
export function isPlanes(type: TensorType): boolean {
  const rank = type.shape.length
  return (rank === 4 || rank === 5) && !type.shape.includes(0) && isDenseFloat(type)
}

/** The same, or with channels last in memory: what `to_blocked` reads. */
function isImage(type: TensorType): boolean {
  return isPlanes(type) || (type.dtype === DType.float32 && !type.shape.includes(0) && isRows(type.shape, type.strides))
}

/** What a node does in terms of blocks of channels; null where it cannot work on them. */
export function blockable(node: GraphNode, analysis: Analysis, target: Target, options: PassOptions): Blockable | null {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node)) return null
  if (node.kind === 'convolution')
    return isImage(analysis.type(node.input)) ? convolution(node, node.input, result, analysis, target, options) : null
  if (node.kind !== 'operator') return null
  const input = inputOf(node)
  if (node.op === 'aten::cat') return join(node, analysis, target)
  if (isPlanes(analysis.type(result)) && (SUMS.has(node.op) || elementwiseSteps(node, analysis) !== null))
    return elementwise(node, result, analysis)
  if (input === undefined || !isImage(analysis.type(input))) return null
  const dims = analysis.type(input).shape.length - 2
  if (node.op === `aten::conv${dims}d`) return convolution(node, input, result, analysis, target, options)
  const isAdaptive = node.op === `aten::adaptive_avg_pool${dims}d`
  if (isAdaptive || node.op === 'aten::mean.dim') {
    // a mean of rows may have strides of its own
    if (!isPlanes(analysis.type(input))) return null
    const isMean = isAdaptive ? integersArg(named(node, 'output_size'))?.every((size) => size === 1) === true : isSpatialMean(node, dims)
    return isMean ? { kind: 'mean', input } : null
  }
  if (!isPlanes(analysis.type(result))) return null
  const lists = { [`aten::max_pool${dims}d`]: 4, [`aten::avg_pool${dims}d`]: 3 }[node.op]
  if (lists === undefined || (lists === 3 && !isNone(named(node, 'divisor_override')))) return null
  return node.args.slice(1, 1 + lists).every((arg) => integersArg(arg) !== undefined) ? { kind: 'pool', input } : null
}

/** A step of a chain, with a full operand at least. */
function elementwise(node: OperatorNode, result: ValueId, analysis: Analysis): Blockable | null {
  const { shape } = analysis.type(result)
  const operands: BlockedOperand[] = []
  for (const [place, arg] of node.args.entries()) {
    const id = valueArg(arg)
    if (id === undefined && arg.kind !== 'constant') return null
    if (id === undefined) continue
    const as = operandForm(id, shape, analysis)
    if (as === null) return null
    operands.push({ id, place, as })
  }
  const isFull = ({ id, as }: BlockedOperand): boolean => as === 'blocks' && sameShape(analysis.type(id).shape, shape)
  return operands.some(isFull) ? { kind: 'elementwise', operands } : null
}

function operandForm(id: ValueId, whole: readonly number[], analysis: Analysis): BlockedOperand['as'] | null {
  const type = analysis.type(id)
  const [rank, channels] = [whole.length, whole[1]!]
  const { dtype, shape } = type
  if (shape.length === rank && isImage(type) && shape[1] === channels) return 'blocks'
  if (shape.length === rank && isPlanes(type) && shape[1] === 1) return 'plane'
  const place = shape.length - (rank - 1)
  const isRow = analysis.tensor(id) !== undefined && dtype === DType.float32 && shape.length <= rank && shape[place] === channels
  return isRow && shape.every((size, d) => size === 1 || d === place) ? 'channels' : null
}

/** A mean over all of the `count` last dimensions. */
function isSpatialMean(node: OperatorNode, count: number): boolean {
  const dims = integersArg(named(node, 'dim'))?.map((d) => (d < 0 ? d + count + 2 : d))
  return (
    dims !== undefined && dims.length === count && Math.min(...dims) === 2 && new Set(dims).size === count && isNone(named(node, 'dtype'))
  )
}

function join(node: OperatorNode, analysis: Analysis, { blockWidth }: Target): Blockable | null {
  const [list] = node.args
  const dim = numberArg(named(node, 'dim'))
  const rank = analysis.type(onlyResult(node)!).shape.length
  if (list?.kind !== 'list' || (dim !== 1 && dim !== 1 - rank)) return null
  const inputs: ValueId[] = []
  for (const item of list.items) {
    const id = valueArg(item)
    if (id === undefined || !isPlanes(analysis.type(id))) return null
    inputs.push(id)
  }
  // only the last may end within a block
  return inputs.slice(0, -1).every((id) => analysis.type(id).shape[1]! % blockWidth === 0) ? { kind: 'join', inputs } : null
}

function convolution(
  node: GraphNode,
  input: ValueId,
  result: ValueId,
  analysis: Analysis,
  target: Target,
  options: PassOptions,
): Blockable | null {
  const layer = asConvolution(node, analysis)
  const found = layer === null ? null : blocksFor(layer, result, analysis, target, options)
  if (layer === null || found === null || !isPlanes(analysis.type(result))) return null
  if (found.bias !== null && found.bias.type !== DType.float32) return null
  // planes are read as they are, rows are not
  if (found.strategy.kind === 'few channels' && !isPlanes(analysis.type(input))) return null
  return { kind: 'convolution', input, layer, ...found }
}

/** How a convolution over planes of float32, with a filter of floats, is computed over blocks of channels; null where it is not. */
function blocksFor(
  layer: ConvolutionNode,
  result: ValueId,
  analysis: Analysis,
  target: Target,
  options: PassOptions,
): Pick<BlockedConvolution, 'strategy' | 'problem' | 'filter' | 'narrow' | 'bias'> | null {
  const { input, stride, padding, dilation, groups } = layer
  const dims = analysis.type(input).shape.length - 2
  if (layer.layout !== 'planes' || layer.post !== null || layer.strategy !== 'product') return null
  const filter = analysis.tensor(layer.filter.values)
  const bias = layer.bias === null ? null : analysis.tensor(layer.bias)
  if (filter?.dim !== dims + 2 || bias === undefined || [stride, padding, dilation].some((list) => list.length !== dims)) return null
  const narrow = narrowType(filter, groups)
  if (narrow === undefined) return null
  const [batch, inChannels, ...inSizes] = analysis.type(input).shape as [number, number, ...number[]]
  const [, outChannels, ...outSizes] = analysis.type(result).shape as [number, number, ...number[]]
  const lists = { kernel: filter.shape.slice(2), stride, padding, dilation }
  const problem = { batch, inChannels, outChannels, groups, in: inSizes, out: outSizes, ...lists, isNarrow: narrow !== null }
  const strategy = convolutionStrategy(problem, target, options)
  return strategy.kind === 'product' ? null : { strategy, problem, filter, narrow, bias }
}

/** The dtype of 16 bits that a filter has, or is rounded to; null for float32, undefined for others, which are read from planes. */
function narrowType(filter: Tensor, groups: number): DType | null | undefined {
  if (isHalf(filter.type)) return filter.type
  if (filter.type !== DType.float32) return undefined
  if (!isRoundedFilter(filter, groups)) return null
  const { format, bytes } = filter.storage.rounding!
  return bytes ? undefined : { [WeightFormat.bfloat16]: DType.bfloat16, [WeightFormat.float16]: DType.float16 }[format]
}

/** Whether a convolution of images in 16 bits would be one over blocks of channels, were its input float32. */
export function blocksSuit(layer: ConvolutionNode, analysis: Analysis, target: Target, options: PassOptions): boolean {
  if (!target.capabilities.blocks) return false
  const result = onlyResult(layer)!
  const rank = analysis.type(layer.input).shape.length
  return (
    (rank === 4 || rank === 5) &&
    !analysis.type(layer.input).shape.includes(0) &&
    blocksFor(layer, result, analysis, target, options) !== null
  )
}
