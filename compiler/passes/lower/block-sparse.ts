import { isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { isContiguous, numelOf } from '../../../runtime/tensor/shape.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import type { ConvolutionNode, LinearNode } from '../../graph/compiled.js'
import type { Graph, GraphNode } from '../../graph/graph.js'
import { type Analysis, analysisOf } from '../analysis.js'
import { Editor } from '../editor.js'
import { asConvolution, asLinear, isPointwise } from '../layers.js'
import type { Pass } from '../pass.js'
import type { Estimate, SparseProduct, Target } from '../../target/target.js'

/**
 * Linear layers and pointwise convolutions whose weights have blocks of zeros use a block-sparse kernel, where the cost model expects it to
 * be the faster one on the target. The node's note says what was expected of each.
 *
 *     %3 = aten::linear(%0, %1, %2)   →   %3 = linear(input=%0, weight=%1, bias=%2, form="vectors")
 */
export const blockSparse = (target: Target): Pass => ({
  name: 'block sparse',
  run: (graph) => (target.capabilities.sparse ? rewrite(graph, target) : graph),
})

function rewrite(graph: Graph, target: Target): Graph {
  const analysis = analysisOf(graph)
  const editor = new Editor(graph)
  let changed = false
  for (const node of graph.nodes) {
    const layer = asConvolution(node, analysis) ?? asLinear(node, analysis)
    const product = layer === null ? null : productOf(node, layer, analysis, target)
    if (product === null) continue
    editor.replaceNode(node, [chosen(node, layer!, product, target.estimate(product))])
    changed = true
  }
  return changed ? editor.finish() : graph
}

interface Found extends SparseProduct {
  readonly zeroShare: number
  readonly images: number
}

/** A product that a block-sparse kernel could compute: everything constant but the input, and some blocks zero. */
function productOf(node: GraphNode, layer: ConvolutionNode | LinearNode, analysis: Analysis, target: Target): Found | null {
  const shape = layer.kind === 'linear' ? linear(layer, analysis) : convolution(layer, analysis)
  const weight = analysis.tensor((layer.kind === 'linear' ? layer.weight : layer.filter).values)
  const bias = layer.bias === null ? null : analysis.tensor(layer.bias)
  const type = analysis.type(layer.input)
  const { dtype } = type
  // rounded weights have kernels of their own
  if (weight?.storage.rounding !== undefined && (layer.kind === 'linear' || isRoundedFilter(weight, layer.groups))) return null
  if (shape === null || !analysis.isPure(node) || layer.post !== null) return null
  if (weight === undefined || bias === undefined || !isContiguous(type.shape, type.strides)) return null
  if (dtype !== DType.float32 && !(dtype === DType.bfloat16 && roundsOnce(node, type.shape, weight))) return null
  if (![weight, bias].every((t) => t === null || (t.type === dtype && t.isContiguous))) return null
  if (weight.numel === 0 || shape.m === 0 || shape.images === 0) return null
  const { blocks, zeros, width } = target.countBlocks(weight)
  if (zeros === 0) return null
  const [n, k] = weight.dim === 5 ? [weight.shape[0]! * target.blockWidth, weight.shape[3]!] : (weight.shape as [number, number])
  return { ...shape, dtype, n, k, width, nonZeroBlocks: blocks - zeros, zeroShare: zeros / blocks }
}

/** bfloat16: a linear layer whose sum is rounded once, as the block-sparse one's; products with vectors may be rounded at each step. */
function roundsOnce(node: GraphNode, shape: readonly number[], weight: Tensor): boolean {
  return node.op === 'aten::linear' && shape.length > 1 && weight.dim === 2 && weight.shape.every((size) => size > 1)
}

type Shape = Pick<Found, 'layer' | 'm' | 'images'>

function linear({ input, form }: LinearNode, analysis: Analysis): Shape | null {
  const { shape } = analysis.type(input)
  return form !== 'dense' || shape.length === 0 ? null : { layer: 'linear', m: numelOf(shape.slice(0, -1)), images: 1 }
}

/** One tap over planes, or over channels in blocks; a filter of few channels takes an input that is not. */
function convolution(node: ConvolutionNode, analysis: Analysis): Shape | null {
  const { input, filter, layout, strategy } = node
  const { shape } = analysis.type(input)
  const { shape: sizes } = analysis.type(filter.values)
  const [m, images] = [shape[2]! * shape[3]!, shape[0]!]
  if (layout === 'blocks') {
    const fits = strategy === 'direct' && shape.length === 5 && sizes.length === 5 && isPointwise(node, sizes.slice(1, 3))
    return fits ? { layer: 'blocked convolution', m, images } : null
  }
  const fits = strategy === 'product' && shape.length === 4 && sizes.length === 4 && isPointwise(node, sizes.slice(2))
  return fits && sizes[1] === shape[1] && node.groups === 1 ? { layer: 'convolution', m, images } : null
}

function chosen(node: GraphNode, layer: ConvolutionNode | LinearNode, product: Found, estimates: readonly Estimate[]): GraphNode {
  const { strategy } = estimates[0]!
  const note = noteOf(product, estimates)
  if (strategy === 'dense') return { ...node, note: node.note === undefined ? note : `${node.note}; ${note}` }
  return layer.kind === 'linear' ? { ...layer, form: strategy as LinearNode['form'], note } : { ...layer, strategy: 'sparse', note }
}

/** `vectors: 90.0 % zero blocks (3686 of 36864 left), 128 rows: expected vectors 0.17 ms, dense 1.02 ms` */
function noteOf({ m, images, nonZeroBlocks, zeroShare, layer }: Found, estimates: readonly Estimate[]): string {
  const blocks = Math.round(nonZeroBlocks / (1 - zeroShare || 1))
  const times = estimates.map((e) => `${e.strategy} ${(e.milliseconds * images).toPrecision(2)} ms`).join(', ')
  const rows = `${m} ${layer === 'linear' ? 'rows' : 'pixels'}`
  return `${estimates[0]!.strategy}: ${(100 * zeroShare).toFixed(1)} % zero blocks (${nonZeroBlocks} of ${blocks} left), ${rows}: expected ${times}`
}
