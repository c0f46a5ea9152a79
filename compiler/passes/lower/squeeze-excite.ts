import { isRounded, isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { Gate } from '../../../runtime/native/generated/kernels.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
import { viewOf } from '../../../runtime/tensor/tensor.js'
import type { CompiledOf } from '../../graph/compiled.js'
import { type Clamp, type Layer, NO_CLAMP } from '../../graph/fields.js'
import type { GraphNode, ValueId } from '../../graph/graph.js'
import { baseOf, operandsOf } from '../../graph/node.js'
import type { Target } from '../../target/target.js'
import { type Analysis, analysisOf, onlyResult, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { asConvolution, asLinear } from '../layers.js'
import { paddedVector } from './layout.js'
import type { Pass } from '../pass.js'

/**
 * Squeeze and excitation between tensors in blocks of channels in one call: mean over pixels, two pointwise convolutions or linear layers
 * with an activation between them, and a gate.
 *
 *     %1 = mean(input=%0, channels=96)
 *     %2 = aten::conv2d(%1, %a, %b, [1, 1], [0, 0], [1, 1], 1)
 *     %3 = aten::relu(%2)
 *     %4 = aten::conv2d(%3, %c, %d, [1, 1], [0, 0], [1, 1], 1)
 *     %5 = reorder(input=%4, to="blocks", channels=96)
 *     %6 = aten::hardsigmoid(%5)                →   %6 = gates(input=%0, channels=96, squeeze=(%a', %b', ...), excite=(%c', %d', ...))
 *
 * Products are summed up in another order: results differ by roundings.
 */
export const squeezeExcite = (target: Target): Pass => ({
  name: 'squeeze and excitation',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const branch = node.kind === 'mean' ? branchOf(node, analysis) : null
      if (branch === null) continue
      const { input, channels } = node as CompiledOf<'mean'>
      const [squeeze, excite] = [branch.squeeze, branch.excite].map((layer) => inBlocks(layer, analysis, editor, target)) as [Layer, Layer]
      const last = branch.nodes.at(-1)!
      const gates: GraphNode = { ...baseOf(last), kind: 'gates', input, channels, squeeze, excite }
      for (const gone of branch.nodes) editor.replaceNode(gone, gone === last ? [gates] : [])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
})

/** A product with a constant matrix, for each image. */
interface Product {
  readonly weight: ValueId
  readonly bias: ValueId | null
  readonly inputs: number
  readonly outputs: number
  /** Behind the product. */
  readonly gate: number
}

interface Branch {
  /** From the mean to what is in blocks again. */
  readonly nodes: readonly GraphNode[]
  readonly squeeze: Product
  readonly excite: Product
}

const GATES: Readonly<Record<string, number>> = {
  'aten::relu': Gate.relu,
  'aten::relu6': Gate.relu6,
  'aten::silu': Gate.silu,
  'aten::hardswish': Gate.hardswish,
  'aten::sigmoid': Gate.sigmoid,
  'aten::hardsigmoid': Gate.hardsigmoid,
}
/** The gate that a node is; undefined for others. */
export function gateOf(node: GraphNode): number | undefined {
  return node.kind === 'operator' ? GATES[node.op] : undefined
}

const VIEWS = new Set(['aten::reshape', 'aten::squeeze.dim', 'aten::unsqueeze'])

/** Walks along the only readers of a value. */
class Walk {
  readonly nodes: GraphNode[]

  constructor(
    start: GraphNode,
    private readonly analysis: Analysis,
  ) {
    this.nodes = [start]
  }

  /** The next node, where it is the only one and reads the value as its first argument. */
  next(): GraphNode | undefined {
    const at = onlyResult(this.nodes.at(-1)!)
    const reader = at === undefined ? undefined : this.analysis.onlyReader(at)
    const follows =
      reader !== undefined && operandsOf(reader).findIndex((arg) => valueArg(arg) === at) === 0 && onlyResult(reader) !== undefined
    return follows && this.analysis.isPure(reader) ? reader : undefined
  }

  /** The next node, which becomes the last one, where it is wanted. */
  take(isTaken: (node: GraphNode) => boolean): GraphNode | undefined {
    const node = this.next()
    if (node === undefined || !isTaken(node)) return undefined
    this.nodes.push(node)
    return node
  }

  overViews(): void {
    while (this.take((node) => node.kind === 'operator' && VIEWS.has(node.op)) !== undefined);
  }
}

function branchOf(mean: CompiledOf<'mean'>, analysis: Analysis): Branch | null {
  const { input, channels } = mean
  const { shape } = analysis.type(input)
  // of images
  if (shape.length !== 5) return null
  const batch = shape[0]!
  const walk = new Walk(mean, analysis)
  const gate = (): number => {
    const node = walk.take((next) => gateOf(next) !== undefined)
    return node === undefined ? Gate.none : gateOf(node)!
  }
  const layer = (): Product | null => {
    walk.overViews()
    const node = walk.next()
    const found = node === undefined ? null : layerOf(node, batch, analysis)
    if (found !== null) walk.nodes.push(node!)
    return found
  }
  const squeeze = layer()
  const first = squeeze === null ? Gate.none : squeeze.gate || gate()
  const excite = squeeze === null ? null : layer()
  if (excite === null || squeeze!.inputs !== channels || excite.inputs !== squeeze!.outputs || excite.outputs !== channels) return null
  let second = excite.gate || gate()
  walk.overViews()
  if (walk.take((node) => node.kind === 'reorder' && node.to === 'blocks') === undefined) return null
  second ||= gate()
  return { nodes: walk.nodes, squeeze: { ...squeeze!, gate: first }, excite: { ...excite, gate: second } }
}

/** A pointwise convolution of single pixels or a linear layer, of float32. */
function layerOf(node: GraphNode, batch: number, analysis: Analysis): Product | null {
  const layer = asConvolution(node, analysis) ?? asLinear(node, analysis)
  if (layer === null || layer.post !== null) return null
  const isConvolution = layer.kind === 'convolution'
  if (isConvolution ? layer.layout !== 'planes' || layer.groups !== 1 : layer.form !== 'dense') return null
  const [weight, bias] = [(isConvolution ? layer.filter : layer.weight).values, layer.bias]
  const matrix = analysis.tensor(weight)
  if (matrix?.type !== DType.float32 || matrix.dim !== (isConvolution ? 4 : 2)) return null
  // kernels of their own have what is rounded
  if (isRounded(matrix) || isRoundedFilter(matrix)) return null
  if (bias !== null && analysis.tensor(bias)?.type !== DType.float32) return null
  const [outputs, inputs, ...kernel] = matrix.shape as [number, number, ...number[]]
  if (kernel.some((size) => size !== 1) || numelOf(analysis.type(onlyResult(node)!).shape) !== batch * outputs) return null
  const gate = clampGate(layer.clamp)
  return gate === undefined ? null : { weight, bias, inputs, outputs, gate }
}

function clampGate({ min, max }: Clamp): number | undefined {
  if (min === -Infinity && max === Infinity) return Gate.none
  if (min !== 0) return undefined
  return max === Infinity ? Gate.relu : max === 6 ? Gate.relu6 : undefined
}

/** The layer with its filter and bias in blocks. */
function inBlocks({ weight, bias, gate }: Product, analysis: Analysis, editor: Editor, target: Target): Layer {
  const nameOf = (id: ValueId): string => `${analysis.nameOf(id)} in blocks`
  const matrix = analysis.tensor(weight)!
  const whole = matrix.dim === 4 ? matrix : viewOf(matrix, [...matrix.shape, 1, 1], [...matrix.strides, 1, 1])
  const lanes = bias === null ? null : editor.addConstant(paddedVector(analysis.tensor(bias)!, target.blockWidth), nameOf(bias))
  return { filter: editor.addConstant(target.packFilter(whole, 'direct', 1), nameOf(weight)), bias: lanes, clamp: NO_CLAMP, gate }
}
