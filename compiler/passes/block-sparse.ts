import { countBlocks } from '../../runtime/backends/cpu/support/sparse-weight.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { isContiguous, numelOf } from '../../runtime/tensor/shape.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { type Arg, constant, type Graph, type GraphNode } from '../graph/graph.js'
import { Analysis, integersArg, isNone, numberArg, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'
import { type Estimate, estimate, type SparseProduct } from './sparse-cost.js'

/**
 * Linear layers and pointwise convolutions whose weights have blocks of zeros use a block-sparse kernel, where the cost model expects it to
 * be the faster one on this CPU. The node's note says what was expected of each.
 *
 *     %3 = ptlite::linear(%0, %1, %2, 0., inf)   →   %3 = ptlite::sparse_linear(%0, %1, %2, 'vectors', 0., inf)
 */
export const blockSparse: Pass = blockSparseBy(estimate)

/** The pass with another judge of what is faster. */
export function blockSparseBy(judge: (product: SparseProduct) => readonly Estimate[]): Pass {
  return { name: 'block sparse', run: (graph) => rewrite(graph, judge) }
}

function rewrite(graph: Graph, judge: (product: SparseProduct) => readonly Estimate[]): Graph {
  const analysis = new Analysis(graph)
  const editor = new Editor(graph)
  let changed = false
  for (const node of graph.nodes) {
    const product = productOf(node, analysis)
    if (product === null) continue
    editor.replaceNode(node, [chosen(node, product, judge(product))])
    changed = true
  }
  return changed ? editor.finish() : graph
}

interface Found extends SparseProduct {
  readonly zeroShare: number
  readonly images: number
  readonly limits: readonly Arg[]
}

/** A product that a block-sparse kernel could compute: everything constant but the input, and some blocks zero. */
function productOf(node: GraphNode, analysis: Analysis): Found | null {
  const shape = LAYERS[node.op]?.(node, analysis)
  const input = valueArg(node.args[0])
  const weightId = valueArg(node.args[1])
  const biasId = valueArg(node.args[2])
  if (shape === undefined || shape === null || input === undefined || weightId === undefined || !analysis.isPure(node)) return null
  const weight = analysis.tensor(weightId)
  const bias = isNone(node.args[2]) ? null : biasId === undefined ? undefined : analysis.tensor(biasId)
  const type = analysis.type(input)
  const { dtype } = type
  if (weight === undefined || bias === undefined || !isContiguous(type.shape, type.strides)) return null
  if (dtype !== DType.float32 && !(dtype === DType.bfloat16 && roundsOnce(node, type.shape, weight))) return null
  if (![weight, bias].every((t) => t === null || (t.type === dtype && t.isContiguous))) return null
  if (weight.numel === 0 || shape.m === 0 || shape.images === 0) return null
  const count = countBlocks(weight)
  if (count === null || count.zeros === 0) return null
  const { blocks, zeros, width } = count
  const [n, k] = weight.dim === 5 ? [weight.shape[0]! * 16, weight.shape[3]!] : (weight.shape as [number, number])
  return { ...shape, dtype, n, k, width, nonZeroBlocks: blocks - zeros, zeroShare: zeros / blocks }
}

/** bfloat16: a linear layer whose sum is rounded once, as the block-sparse one's; products with vectors may be rounded at each step. */
function roundsOnce(node: GraphNode, shape: readonly number[], weight: Tensor): boolean {
  return node.op === 'aten::linear' && shape.length > 1 && weight.dim === 2 && weight.shape.every((size) => size > 1)
}

type Shape = Pick<Found, 'layer' | 'm' | 'images' | 'limits'>
const NO_LIMITS: readonly Arg[] = [constant(new Float(-Infinity)), constant(new Float(Infinity))]

const LAYERS: Readonly<Record<string, (node: GraphNode, analysis: Analysis) => Shape | null>> = {
  'aten::linear': linear,
  'ptlite::linear': linear,
  'aten::conv2d': pointwise,
  'ptlite::convolution': pointwise,
  'ptlite::blocked_convolution': blocked,
}

function linear({ args }: GraphNode, analysis: Analysis): Shape | null {
  const [input, weight] = [valueArg(args[0]), valueArg(args[1])]
  if (input === undefined || weight === undefined || analysis.type(weight).shape.length !== 2) return null
  const { shape } = analysis.type(input)
  if (shape.length === 0) return null
  return { layer: 'linear', m: numelOf(shape.slice(0, -1)), images: 1, limits: limitsOf(args.slice(3)) }
}

function pointwise({ args }: GraphNode, analysis: Analysis): Shape | null {
  const [input, weight] = [valueArg(args[0]), valueArg(args[1])]
  if (input === undefined || weight === undefined) return null
  const { shape } = analysis.type(input)
  const filter = analysis.type(weight).shape
  if (shape.length !== 4 || filter.length !== 4 || filter[2] !== 1 || filter[3] !== 1 || filter[1] !== shape[1]) return null
  const [stride, padding, dilation] = args.slice(3, 6).map(integersArg)
  if (!isPlain(stride, padding) || dilation === undefined || numberArg(args[6]) !== 1) return null
  return { layer: 'convolution', m: shape[2]! * shape[3]!, images: shape[0]!, limits: limitsOf(args.slice(7)) }
}

/** Channels in blocks of 16; a filter of few channels takes an input that is not. */
function blocked({ args }: GraphNode, analysis: Analysis): Shape | null {
  const [input, filter] = [valueArg(args[0]), valueArg(args[1])]
  if (input === undefined || filter === undefined) return null
  const { shape } = analysis.type(input)
  const { shape: sizes } = analysis.type(filter)
  const [stride, padding] = args.slice(4, 6).map(integersArg)
  if (shape.length !== 5 || sizes.length !== 5 || sizes[1] !== 1 || sizes[2] !== 1 || !isPlain(stride, padding)) return null
  return { layer: 'blocked convolution', m: shape[2]! * shape[3]!, images: shape[0]!, limits: args.slice(7) }
}

const isPlain = (stride: number[] | undefined, padding: number[] | undefined): boolean =>
  stride?.every((s) => s === 1) === true && padding?.every((p) => p === 0) === true

const limitsOf = (args: readonly Arg[]): readonly Arg[] => (args.length === 2 ? args : NO_LIMITS)

function chosen(node: GraphNode, product: Found, estimates: readonly Estimate[]): GraphNode {
  const { strategy } = estimates[0]!
  const note = noteOf(product, estimates)
  if (strategy === 'dense') return { ...node, note: node.note === undefined ? note : `${node.note}; ${note}` }
  const operands = node.args.slice(0, 3)
  switch (product.layer) {
    case 'linear':
      return { ...node, op: 'ptlite::sparse_linear', args: [...operands, constant(strategy), ...product.limits], note }
    case 'convolution':
      return { ...node, op: 'ptlite::sparse_convolution', args: [...operands, ...product.limits], note }
    case 'blocked convolution':
      return { ...node, op: 'ptlite::sparse_blocked_convolution', args: [...operands, node.args[3]!, ...product.limits], note }
  }
}

/** `vectors: 90.0 % zero blocks (3686 of 36864 left), 128 rows: expected vectors 0.17 ms, dense 1.02 ms` */
function noteOf({ m, images, nonZeroBlocks, zeroShare, layer }: Found, estimates: readonly Estimate[]): string {
  const blocks = Math.round(nonZeroBlocks / (1 - zeroShare || 1))
  const times = estimates.map((e) => `${e.strategy} ${(e.milliseconds * images).toPrecision(2)} ms`).join(', ')
  const rows = `${m} ${layer === 'linear' ? 'rows' : 'pixels'}`
  return `${estimates[0]!.strategy}: ${(100 * zeroShare).toFixed(1)} % zero blocks (${nonZeroBlocks} of ${blocks} left), ${rows}: expected ${times}`
}
