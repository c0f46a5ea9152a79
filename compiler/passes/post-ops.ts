import { type BlockAxes, blockStrides, broadcastStrides, POST_LIMITS } from '../../runtime/backends/cpu/support/post-ops.js'
import { chainOf, sparseOperand, type SparseOrder } from '../../runtime/backends/cpu/support/sparse-steps.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { sameShape } from '../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, value, type ValueId } from '../graph/graph.js'
import { convolutionSettings } from './activation.js'
import { Analysis, integersArg, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { canStep, fuse } from './elementwise.js'
import type { Pass } from './pass.js'

/** An operator whose kernel can go on with element-wise steps. */
interface Producer {
  readonly op: string
  /** Arguments in front of the steps; null where this call has no such kernel. */
  readonly args: (node: GraphNode, analysis: Analysis) => readonly Arg[] | null
  readonly takes: Takes
}

/** Whether a kernel can carry out these steps on its result of this shape, to which the operands are broadcast by these strides. */
type Takes = (
  shape: readonly number[],
  operands: readonly (readonly number[])[],
  steps: { readonly ops: readonly number[]; readonly values: readonly number[] },
  node: GraphNode,
  analysis: Analysis,
) => boolean

/** On blocks of rows and columns, where each operand has one distance in each direction. */
const inBlocks =
  (axes: (rank: number, node: GraphNode, analysis: Analysis) => BlockAxes): Takes =>
  (shape, operands, _, node, analysis) =>
    operands.every((strides) => blockStrides(shape, strides, axes(shape.length, node, analysis)) !== undefined)

const NO_LIMITS = [constant(new Float(-Infinity)), constant(new Float(Infinity))]

const rankOf = (arg: Arg | undefined, analysis: Analysis): number => {
  const id = valueArg(arg)
  return id === undefined ? -1 : analysis.type(id).shape.length
}

const LINEAR: Producer = {
  op: 'ptlite::linear_post',
  args: (node, analysis) =>
    rankOf(node.args[1], analysis) !== 2 ? null : node.op === 'aten::linear' ? [...node.args, ...NO_LIMITS] : node.args,
  takes: inBlocks((rank) => ({ row: 0, column: rank - 1 })),
}
const CONVOLUTION: Producer = {
  op: 'ptlite::convolution_post',
  args: (node) => {
    if (node.op === 'ptlite::convolution') return node.args
    const settings = convolutionSettings(node)
    return settings === null ? null : [...node.args.slice(0, 3), ...settings, node.args[6]!, ...NO_LIMITS]
  },
  // a result without a batch has rows from its first dimension on
  takes: inBlocks((rank, node, analysis) => {
    const row = rank === rankOf(node.args[1], analysis) ? 1 : 0
    return { row, column: row + 1 }
  }),
}
const MATMUL: Producer = {
  op: 'ptlite::matmul_post',
  args: (node, analysis) => {
    const [a, b] = [rankOf(node.args[0], analysis), rankOf(node.args[1], analysis)]
    return a === b && (a === 2 || a === 3) ? node.args : null
  },
  takes: inBlocks((rank) => ({ row: rank - 2, column: rank - 1 })),
}

/** With channels in blocks of 16; all arguments stay, the residual and the limits included. */
const blocked = (op: string): Producer => ({
  op: `${op}_post`,
  args: (node) => node.args,
  takes: inBlocks((rank) => ({ row: 2, column: rank - 1 })),
})

/** In registers, and so a chain. */
const sparse = (op: string, order: SparseOrder): Producer => ({
  op: `${op}_post`,
  args: (node) => node.args,
  takes: (shape, operands, steps) => {
    const places = operands.map((strides) => sparseOperand(order, shape, strides))
    return chainOf({ ...steps, numbers: [] }, places) !== null
  },
})

const PRODUCERS: Readonly<Record<string, Producer>> = {
  'aten::linear': LINEAR,
  'ptlite::linear': LINEAR,
  'aten::conv1d': CONVOLUTION,
  'aten::conv2d': CONVOLUTION,
  'aten::conv3d': CONVOLUTION,
  'ptlite::convolution': CONVOLUTION,
  'aten::matmul': MATMUL,
  'ptlite::sparse_linear': sparse('ptlite::sparse_linear', 'rows'),
  'ptlite::sparse_convolution': sparse('ptlite::sparse_convolution', 'channels'),
  'ptlite::sparse_blocked_convolution': sparse('ptlite::sparse_blocked_convolution', 'blocks'),
  ...Object.fromEntries(
    ['blocked_convolution', 'blocked_grouped_convolution', 'blocked_depthwise', 'winograd_convolution'].map((name) => [
      `ptlite::${name}`,
      blocked(`ptlite::${name}`),
    ]),
  ),
}

/**
 * Element-wise steps behind a float32 convolution, linear layer or product become steps of its kernel, which carries them out on blocks
 * of its result while these are in the caches: activations, residual sums, products with one value per channel.
 *
 *     %3 = aten::linear(%0, %1, %2)
 *     %4 = ptlite::fused([%3, %r], [8, 64], [3, 28], ...)   →   %4 = ptlite::linear_post(%0, %1, %2, -inf, inf, [%r], [3, 28], ...)
 *
 * The result must have no other reader, and the shape of what the steps give. They are the same steps in the same order: same bits.
 */
export const postOps: Pass = {
  name: 'post-ops',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    const taken = new Set<GraphNode>()
    for (const node of graph.nodes) {
      const steps = stepsOf(node, analysis)
      if (steps === null) continue
      const producer = producerOf(node, steps, analysis, taken)
      if (producer === null) continue
      const [dense, joined] = producer
      taken.add(dense).add(node)
      editor.replaceNode(dense, [])
      editor.replaceNode(node, [joined])
    }
    return taken.size === 0 ? graph : editor.finish()
  },
}

interface Steps {
  readonly inputs: readonly ValueId[]
  readonly ops: readonly number[]
  readonly operands: readonly number[]
  readonly numbers: Arg
}

/** The steps of a chain, or of one operator that could be one. */
function stepsOf(node: GraphNode, analysis: Analysis): Steps | null {
  if (!analysis.isPure(node) || onlyResult(node) === undefined) return null
  const chain = node.op === 'ptlite::fused' ? node : canStep(node, analysis) ? fuse([node], analysis) : null
  if (chain === null || numberArg(chain.args[5]) !== DType.float32) return null
  const [list, , ops, operands, numbers] = chain.args
  const inputs = list?.kind === 'list' ? list.items.map(valueArg) : []
  const [opNumbers, operandNumbers] = [integersArg(ops), integersArg(operands)]
  if (opNumbers === undefined || operandNumbers === undefined || numbers === undefined || inputs.includes(undefined)) return null
  return { inputs: inputs as ValueId[], ops: opNumbers, operands: operandNumbers, numbers }
}

/** The last dense operator among the inputs of the steps, and the operator that does both; null where there is none. */
function producerOf(node: GraphNode, steps: Steps, analysis: Analysis, taken: ReadonlySet<GraphNode>): [GraphNode, GraphNode] | null {
  const { inputs, ops } = steps
  if (ops.length > POST_LIMITS.steps || inputs.length > 1 + POST_LIMITS.operands) return null
  const candidates = inputs
    .map((id) => ({ id, dense: analysis.producer(id) }))
    .filter(({ id, dense }) => dense !== undefined && !taken.has(dense) && analysis.onlyReader(id) === node && analysis.isPure(dense))
    .sort((a, b) => analysis.graph.nodes.indexOf(b.dense!) - analysis.graph.nodes.indexOf(a.dense!))
  for (const { id, dense } of candidates) {
    const joined = join(node, steps, id, dense!, analysis)
    if (joined !== null) return [dense!, joined]
  }
  return null
}

function join(
  node: GraphNode,
  { inputs, ops, operands, numbers }: Steps,
  block: ValueId,
  dense: GraphNode,
  analysis: Analysis,
): GraphNode | null {
  const producer = PRODUCERS[dense.op]
  const args = producer?.args(dense, analysis) ?? null
  const { shape } = analysis.type(onlyResult(node)!)
  const from = analysis.type(block)
  if (producer === undefined || args === null || from.dtype !== DType.float32 || !sameShape(from.shape, shape)) return null
  const others = inputs.filter((id) => id !== block)
  const strides: (readonly number[])[] = []
  for (const id of others) {
    const type = analysis.type(id)
    const found = type.dtype === DType.float32 ? broadcastStrides(type.shape, type.strides, shape) : undefined
    if (found === undefined) return null
    strides.push(found)
  }
  // value 0 is the block
  const at = inputs.indexOf(block)
  const renumber = (v: number): number => (v < 0 || v >= inputs.length ? v : v === at ? 0 : v < at ? v + 1 : v)
  const values = operands.map(renumber)
  if (!producer.takes(shape, strides, { ops, values }, dense, analysis)) return null
  return {
    ...node,
    op: producer.op,
    ...(dense.note === undefined ? {} : { note: dense.note }),
    args: [...args, { kind: 'list', items: others.map(value) }, constant([...ops]), constant(values), numbers],
  }
}
