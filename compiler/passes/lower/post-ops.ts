import { type BlockAxes, blockStrides, broadcastStrides } from '../../../runtime/shapes/post-ops.js'
import { chainOf, sparseOperand, type SparseOrder } from '../../../runtime/shapes/sparse-steps.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import type { ChainNode, CompiledOf, ConvolutionNode, LinearNode } from '../../graph/compiled.js'
import type { Steps } from '../../graph/fields.js'
import type { GraphNode, ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, onlyResult, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { canStep, fuse } from '../fuse/elementwise.js'
import { asConvolution, asLinear } from '../layers.js'
import type { Pass } from '../pass.js'
import { Limit } from '../../../runtime/native/generated/numbers.js'

/** A node whose kernel can go on with element-wise steps. */
type Producer = ConvolutionNode | LinearNode | CompiledOf<'matmul'>

/** The node as one that takes steps; null for others, and for those that have some. */
function producerOf(node: GraphNode, analysis: Analysis): Producer | null {
  const layer = asConvolution(node, analysis) ?? asLinear(node, analysis) ?? asMatmul(node, analysis)
  return layer?.post === null ? layer : null
}

function asMatmul(node: GraphNode, analysis: Analysis): CompiledOf<'matmul'> | null {
  if (node.op !== 'aten::matmul') return null
  const [left, right] = node.args.map(valueArg)
  if (left === undefined || right === undefined) return null
  const [a, b] = [left, right].map((id) => analysis.type(id).shape.length)
  return a === b && (a === 2 || a === 3) ? { ...baseOf(node), kind: 'matmul', left, right, post: null } : null
}

/** Whether the kernel can carry out these steps on its result of this shape, to which the operands are broadcast by these strides. */
function takes(
  node: Producer,
  shape: readonly number[],
  operands: readonly (readonly number[])[],
  steps: Steps,
  analysis: Analysis,
): boolean {
  const order = sparseOrder(node)
  if (order !== null) {
    // in registers, and so a chain
    const places = operands.map((strides) => sparseOperand(order, shape, strides))
    return chainOf({ ...steps, numbers: [] }, places) !== null
  }
  const axes = axesOf(node, shape.length, analysis)
  return operands.every((strides) => blockStrides(shape, strides, axes) !== undefined)
}

/** How a block-sparse kernel walks its result; null for dense ones. */
function sparseOrder(node: Producer): SparseOrder | null {
  if (node.kind === 'linear') return node.form === 'dense' ? null : 'rows'
  if (node.kind === 'matmul' || node.strategy !== 'sparse') return null
  return node.layout === 'planes' ? 'channels' : 'blocks'
}

/** Blocks of rows and columns, where each operand has one distance in each direction. */
function axesOf(node: Producer, rank: number, analysis: Analysis): BlockAxes {
  if (node.kind === 'linear') return { row: 0, column: rank - 1 }
  if (node.kind === 'matmul') return { row: rank - 2, column: rank - 1 }
  if (node.layout === 'blocks') return { row: 2, column: rank - 1 }
  // a result without a batch has rows from its first dimension on
  const row = rank === analysis.type(node.filter.values).shape.length ? 1 : 0
  return { row, column: row + 1 }
}

/**
 * Element-wise steps behind a float32 convolution, linear layer or product become steps of its kernel, which carries them out on blocks
 * of its result while these are in the caches: activations, residual sums, products with one value per channel.
 *
 *     %3 = aten::linear(%0, %1, %2)
 *     %4 = chain(inputs=[%3, %r], ops=[3, 28], ...)         →   %4 = linear(input=%0, weight=%1, bias=%2, post=([%r], [3, 28], ...))
 *
 * The result must have no other reader, and the shape of what the steps give. They are the same steps in the same order: same bits.
 */
export const postOps: Pass = {
  name: 'post-ops',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    const taken = new Set<GraphNode>()
    for (const node of graph.nodes) {
      const chain = chainAt(node, analysis)
      const found = chain === null ? null : joinedTo(node, chain, analysis, taken)
      if (found === null) continue
      const [dense, joined] = found
      taken.add(dense).add(node)
      editor.replaceNode(dense, [])
      editor.replaceNode(node, [joined])
    }
    return taken.size === 0 ? graph : editor.finish()
  },
}

/** The float32 chain that a node is, or could be. */
function chainAt(node: GraphNode, analysis: Analysis): ChainNode | null {
  if (!analysis.isPure(node) || onlyResult(node) === undefined) return null
  const chain = node.kind === 'chain' ? node : canStep(node, analysis) ? fuse([node], analysis) : null
  return chain?.dtypes.length === 1 && chain.dtypes[0] === DType.float32 ? chain : null
}

/** The last dense node among those that the steps read, and the node that does both; null where there is none. */
function joinedTo(node: GraphNode, chain: ChainNode, analysis: Analysis, taken: ReadonlySet<GraphNode>): [GraphNode, GraphNode] | null {
  const { inputs, ops } = chain
  if (ops.length > Limit.POST_STEPS || inputs.length > 1 + Limit.POST_OPERANDS) return null
  const candidates = inputs
    .map((id) => ({ id, dense: analysis.producer(id) }))
    .filter(({ id, dense }) => dense !== undefined && !taken.has(dense) && analysis.onlyReader(id) === node && analysis.isPure(dense))
    .sort((a, b) => analysis.placeOf(b.dense!) - analysis.placeOf(a.dense!))
  for (const { id, dense } of candidates) {
    const joined = join(chain, id, dense!, analysis)
    if (joined !== null) return [dense!, joined]
  }
  return null
}

function join(chain: ChainNode, block: ValueId, dense: GraphNode, analysis: Analysis): GraphNode | null {
  const { inputs, ops, numbers, size: shape } = chain
  const from = analysis.type(block)
  const producer = from.dtype === DType.float32 && sameShape(from.shape, shape) ? producerOf(dense, analysis) : null
  if (producer === null) return null
  const operands = inputs.filter((id) => id !== block)
  const strides: (readonly number[])[] = []
  for (const id of operands) {
    const type = analysis.type(id)
    const found = type.dtype === DType.float32 ? broadcastStrides(type.shape, type.strides, shape) : undefined
    if (found === undefined) return null
    strides.push(found)
  }
  // value 0 is the block
  const at = inputs.indexOf(block)
  const renumber = (v: number): number => (v < 0 || v >= inputs.length ? v : v === at ? 0 : v < at ? v + 1 : v)
  const steps = { ops, values: chain.values.map(renumber), numbers }
  if (!takes(producer, shape, strides, steps, analysis)) return null
  return { ...producer, results: chain.results, origin: chain.origin, post: { operands, ...steps } }
}
