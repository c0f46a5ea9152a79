import { Gate } from '../../runtime/native/generated/kernels.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { numelOf } from '../../runtime/tensor/shape.js'
import { type Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import { callOnce } from '../graph/evaluate.js'
import { type Arg, constant, type GraphNode, NONE, value, type ValueId } from '../graph/graph.js'
import { Analysis, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { paddedVector } from './layout.js'
import type { Pass } from './pass.js'

/**
 * Squeeze and excitation between tensors in blocks of channels in one call: mean over pixels, two pointwise convolutions or linear layers
 * with an activation between them, and a gate.
 *
 *     %1 = ptlite::blocked_mean(%0, 96)
 *     %2 = aten::conv2d(%1, %a, %b, [1, 1], [0, 0], [1, 1], 1)
 *     %3 = aten::relu(%2)
 *     %4 = aten::conv2d(%3, %c, %d, [1, 1], [0, 0], [1, 1], 1)
 *     %5 = ptlite::to_blocked(%4)
 *     %6 = aten::hardsigmoid(%5)                →   %6 = ptlite::blocked_gates(%0, 96, %a', %b', %c', %d', 1, 6)
 *
 * Products are summed up in another order: results differ by roundings.
 */
export const squeezeExcite: Pass = {
  name: 'squeeze and excitation',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const branch = node.op === 'ptlite::blocked_mean' ? branchOf(node, analysis) : null
      if (branch === null) continue
      const constants = [branch.squeeze, branch.excite].flatMap((layer) => constantsOf(layer, analysis, editor))
      const args = [...node.args, ...constants, constant(branch.activation), constant(branch.gate)]
      const last = branch.nodes.at(-1)!
      for (const gone of branch.nodes) editor.replaceNode(gone, gone === last ? [{ ...last, op: 'ptlite::blocked_gates', args }] : [])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** A product with a constant matrix, for each image. */
interface Layer {
  readonly weight: ValueId
  readonly bias: ValueId | null
  readonly inputs: number
  readonly outputs: number
  /** Of limits that the operator applies itself. */
  readonly gate: number
}

interface Branch {
  /** From the mean to what is in blocks again. */
  readonly nodes: readonly GraphNode[]
  readonly squeeze: Layer
  readonly excite: Layer
  readonly activation: number
  readonly gate: number
}

export const GATES: Readonly<Record<string, number>> = {
  'aten::relu': Gate.relu,
  'aten::relu6': Gate.relu6,
  'aten::silu': Gate.silu,
  'aten::hardswish': Gate.hardswish,
  'aten::sigmoid': Gate.sigmoid,
  'aten::hardsigmoid': Gate.hardsigmoid,
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
    const follows = reader !== undefined && valueArg(reader.args[0]) === at && onlyResult(reader) !== undefined
    return follows && this.analysis.isPure(reader) ? reader : undefined
  }

  /** The next node, which becomes the last one, where `op` is its operator. */
  take(isTaken: (op: string) => boolean): GraphNode | undefined {
    const node = this.next()
    if (node === undefined || !isTaken(node.op)) return undefined
    this.nodes.push(node)
    return node
  }

  overViews(): void {
    while (this.take((op) => VIEWS.has(op)) !== undefined);
  }
}

function branchOf(mean: GraphNode, analysis: Analysis): Branch | null {
  const channels = numberArg(mean.args[1])!
  const { shape } = analysis.type(valueArg(mean.args[0])!)
  // of images
  if (shape.length !== 5) return null
  const batch = shape[0]!
  const walk = new Walk(mean, analysis)
  const gate = (): number => {
    const node = walk.take((op) => op in GATES)
    return node === undefined ? Gate.none : GATES[node.op]!
  }
  const layer = (): Layer | null => {
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
  if (walk.take((op) => op === 'ptlite::to_blocked') === undefined) return null
  second ||= gate()
  return { nodes: walk.nodes, squeeze: squeeze!, excite, activation: first, gate: second }
}

/** A pointwise convolution of single pixels or a linear layer, of float32. */
function layerOf(node: GraphNode, batch: number, analysis: Analysis): Layer | null {
  const { op, args } = node
  const isConvolution = op === 'aten::conv2d' || op === 'ptlite::convolution'
  if (!isConvolution && op !== 'aten::linear' && op !== 'ptlite::linear') return null
  const [weight, bias] = [valueArg(args[1]), valueArg(args[2]) ?? null]
  const matrix = weight === undefined ? undefined : analysis.tensor(weight)
  if (matrix?.type !== DType.float32 || matrix.dim !== (isConvolution ? 4 : 2)) return null
  if (!isNone(args[2]) && (bias === null || analysis.tensor(bias)?.type !== DType.float32)) return null
  const [outputs, inputs, ...kernel] = matrix.shape as [number, number, ...number[]]
  if (kernel.some((size) => size !== 1) || (isConvolution && numberArg(args[6]) !== 1)) return null
  if (numelOf(analysis.type(onlyResult(node)!).shape) !== batch * outputs) return null
  const limits = args.slice(isConvolution ? 7 : 3).map(numberArg)
  const gate = limits.length === 0 || limits.join() === '-Infinity,Infinity' ? Gate.none : limitsGate(limits)
  return gate === undefined ? null : { weight: weight!, bias, inputs, outputs, gate }
}

function limitsGate([min, max]: readonly (number | undefined)[]): number | undefined {
  if (min !== 0) return undefined
  return max === Infinity ? Gate.relu : max === 6 ? Gate.relu6 : undefined
}

/** Filter and bias of a layer in blocks. */
function constantsOf({ weight, bias }: Layer, analysis: Analysis, editor: Editor): Arg[] {
  const nameOf = (id: ValueId): string => `${analysis.graph.constants.find((c) => c.id === id)!.name} in blocks`
  const matrix = analysis.tensor(weight)!
  const whole = matrix.dim === 4 ? matrix : viewOf(matrix, [...matrix.shape, 1, 1], [...matrix.strides, 1, 1])
  const [filter] = callOnce('ptlite::blocked_filter', [whole]) as [Tensor]
  const lanes = bias === null ? NONE : value(editor.addConstant(paddedVector(analysis.tensor(bias)!), nameOf(bias)))
  return [value(editor.addConstant(filter, nameOf(weight))), lanes]
}
