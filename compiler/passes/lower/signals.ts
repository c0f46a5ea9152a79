import { isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides } from '../../../runtime/tensor/shape.js'
import { viewOf } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type Graph, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import type { Target } from '../../target/target.js'
import {
  type Analysis,
  analysisOf,
  inputOf,
  integersArg,
  isDenseFloat,
  isNone,
  numberArg,
  onlyResult,
  operatorsOf,
  valueArg,
} from '../analysis.js'
import { convolutionStrategy } from './convolution-strategy.js'
import { deadCode } from '../canonical/dead-code.js'
import { Editor } from '../editor.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'
import type { Pass } from '../pass.js'
import { views } from '../canonical/views.js'

/**
 * Signals [n, c, length] that convolutions hand to one another become images of a single row, for which `layout` has blocks of
 * channels.
 *
 *     %3 = aten::conv1d(%0, %1, %2, [2], [1], [1], 1)               %5 = aten::unsqueeze(%0, 2)
 *     %4 = aten::relu(%3)                                     →     %6 = aten::conv2d(%5, %7, %2, [1, 2], [0, 1], [1, 1], 1)
 *                                                                   %8 = aten::relu(%6)
 *                                                                   %4 = aten::squeeze.dim(%8, 2)
 */
export const signals = (target: Target): Pass => ({
  name: 'signals as images',
  run(graph) {
    if (!target.capabilities.blocks) return graph
    const analysis = analysisOf(graph)
    const images = imagesOf(graph, analysis, target)
    return images.size === 0 ? graph : deadCode.run(views.run(new Rewriter(graph, analysis, images).run()))
  },
})

/** A node as one on images: its operator and arguments, where tensors are still those of the signal. */
interface ImageNode {
  readonly op: string
  readonly args: readonly Arg[]
}

/** Convolutions that blocks of channels may suit, and what works on their results. */
function imagesOf(graph: Graph, analysis: Analysis, target: Target): Map<OperatorNode, ImageNode> {
  const images = new Map<OperatorNode, ImageNode>()
  const isKnown = (id: ValueId | undefined): boolean =>
    id !== undefined && (images as ReadonlyMap<unknown, ImageNode>).has(analysis.producer(id))
  for (const node of operatorsOf(graph)) {
    const result = onlyResult(node)
    if (result === undefined || !analysis.isPure(node)) continue
    const input = inputOf(node)
    const image =
      node.op === 'aten::conv1d'
        ? convolution(node, result, analysis, target)
        : isKnown(input) && isSignal(input!, analysis)
          ? ofSignal(node, result, analysis)
          : joinOrSum(node, result, isKnown, analysis)
    if (image !== null) images.set(node, image)
  }
  return images
}

function isSignal(id: ValueId, analysis: Analysis): boolean {
  const type = analysis.type(id)
  return type.shape.length === 3 && !type.shape.includes(0) && isDenseFloat(type)
}

/** [k] as [none, k]. */
const inFront = (arg: Arg | undefined, none: number): Arg | null => {
  const list = integersArg(arg)
  return list?.length === 1 ? constant([none, list[0]!]) : null
}

const known = (args: readonly (Arg | null)[]): args is readonly Arg[] => !args.includes(null)

function convolution(node: OperatorNode, result: ValueId, analysis: Analysis, target: Target): ImageNode | null {
  const [x, w] = node.args.map(valueArg)
  const weight = w === undefined ? undefined : analysis.tensor(w)
  const settings = [inFront(named(node, 'stride'), 1), inFront(named(node, 'padding'), 0), inFront(named(node, 'dilation'), 1)]
  const groups = numberArg(named(node, 'groups'))
  if (x === undefined || weight?.dim !== 3 || groups === undefined || !known(settings) || !isSignal(result, analysis)) return null
  if (isRoundedFilter(weight, groups)) return null
  const type = analysis.type(x)
  if (type.dtype !== DType.float32 || type.shape.length !== 3 || type.shape.includes(0)) return null
  const [batch, inChannels, length] = type.shape as [number, number, number]
  const [, outChannels, out] = analysis.type(result).shape as [number, number, number]
  const [stride, padding, dilation] = settings.map((arg) => integersArg(arg ?? undefined) as [number, number]) as [
    [number, number],
    [number, number],
    [number, number],
  ]
  const sizes = { in: [1, length], out: [1, out], kernel: [1, weight.shape[2]!], stride, padding, dilation } as const
  const { kind } = convolutionStrategy({ batch, inChannels, outChannels, groups, ...sizes }, target)
  return kind === 'product' ? null : { op: 'aten::conv2d', args: [...node.args.slice(0, 3), ...settings, named(node, 'groups')] }
}

/** Kernel, stride and padding of a pool over images of one row; an empty stride is the kernel. */
function windows(node: OperatorNode): (Arg | null)[] {
  const [window, stride] = [inFront(named(node, 'kernel_size'), 1), named(node, 'stride')]
  return [window, integersArg(stride)?.length === 0 ? window : inFront(stride, 1), inFront(named(node, 'padding'), 0)]
}

/** What reads one signal. */
function ofSignal(node: OperatorNode, result: ValueId, analysis: Analysis): ImageNode | null {
  const { op, args } = node
  const [input] = args as [Arg]
  switch (op) {
    case 'aten::max_pool1d': {
      const pool = [input, ...windows(node), inFront(named(node, 'dilation'), 1), named(node, 'ceil_mode')]
      return known(pool) ? { op: 'aten::max_pool2d', args: pool } : null
    }
    case 'aten::avg_pool1d': {
      const pool = [input, ...windows(node), named(node, 'ceil_mode'), named(node, 'count_include_pad'), constant(null)]
      return known(pool) ? { op: 'aten::avg_pool2d', args: pool } : null
    }
    case 'aten::adaptive_avg_pool1d':
      return integersArg(named(node, 'output_size'))?.join() === '1'
        ? { op: 'aten::adaptive_avg_pool2d', args: [input, constant([1, 1])] }
        : null
    case 'aten::mean.dim': {
      const dims = integersArg(named(node, 'dim'))?.join()
      return (dims === '2' || dims === '-1') && isNone(named(node, 'dtype'))
        ? { op, args: [input, constant([2, 3]), ...args.slice(2)] }
        : null
    }
    case 'aten::batch_norm':
    case 'aten::prelu':
      return isSignal(result, analysis) ? { op, args } : null
    default:
      return steps(node, result, analysis)
  }
}

/** What reads several, the first of which may not be one of a convolution. */
function joinOrSum(
  node: OperatorNode,
  result: ValueId,
  isKnown: (id: ValueId | undefined) => boolean,
  analysis: Analysis,
): ImageNode | null {
  const [first, dim] = node.args
  if (node.op === 'aten::cat') {
    const items = first?.kind === 'list' ? first.items.map(valueArg) : []
    const along = numberArg(dim)
    const fits = items.some(isKnown) && items.every((id) => id !== undefined && isSignal(id, analysis))
    return fits && (along === 1 || along === -2) ? { op: node.op, args: [first!, constant(1)] } : null
  }
  return node.args.some((arg) => isKnown(valueArg(arg))) ? steps(node, result, analysis) : null
}

/** An element-wise step on signals and constants. */
function steps(node: OperatorNode, result: ValueId, analysis: Analysis): ImageNode | null {
  if (elementwiseSteps(node, analysis) === null || !isSignal(result, analysis)) return null
  const fits = (arg: Arg): boolean => {
    const id = valueArg(arg)
    if (id === undefined) return arg.kind === 'constant'
    const { dtype, shape } = analysis.type(id)
    return analysis.tensor(id) === undefined ? isSignal(id, analysis) : dtype === DType.float32 && shape.length <= 3
  }
  return node.args.every(fits) ? { op: node.op, args: node.args } : null
}

class Rewriter {
  private readonly editor: Editor

  constructor(
    graph: Graph,
    private readonly analysis: Analysis,
    private readonly images: ReadonlyMap<OperatorNode, ImageNode>,
  ) {
    this.editor = new Editor(graph)
  }

  run(): Graph {
    for (const [node, image] of this.images) {
      const nodes: OperatorNode[] = []
      // weights and numbers for each channel of norms and prelu stay vectors
      const vectors = ['aten::batch_norm', 'aten::prelu'].includes(image.op)
      const args = image.args.map((arg, i) => (i > 0 && vectors ? arg : this.asImage(arg, node, nodes)))
      const result = onlyResult(node)!
      const type = this.analysis.type(result)
      if (type.shape.length !== 3) {
        this.editor.replaceNode(node, [...nodes, { ...node, ...image, args }])
        continue
      }
      const [n, c, length] = type.shape as [number, number, number]
      const shape = [n, c, 1, length]
      const made = this.editor.newValue({ ...type, shape, strides: contiguousStrides(shape) }, this.analysis.storage(result))
      const back: OperatorNode = { ...node, op: 'aten::squeeze.dim', args: [value(made), constant(2)] }
      this.editor.replaceNode(node, [...nodes, { ...node, ...image, args, results: [{ kind: 'value', id: made }] }, back])
    }
    return this.editor.finish()
  }

  private asImage(arg: Arg, node: OperatorNode, nodes: OperatorNode[]): Arg {
    if (arg.kind === 'list') return { kind: 'list', items: arg.items.map((item) => this.asImage(item, node, nodes)) }
    const id = valueArg(arg)
    if (id === undefined) return arg
    const type = this.analysis.type(id)
    const tensor = this.analysis.tensor(id)
    const before = type.shape.length - 1
    // the length comes last, the new dimension in front of it; numbers of no dimension and bias vectors have none
    if (tensor !== undefined && (before < 1 || (node.op === 'aten::conv1d' && before < 2))) return arg
    const shape = [...type.shape.slice(0, before), 1, ...type.shape.slice(before)]
    const strides = [...type.strides.slice(0, before), type.shape[before]! * type.strides[before]!, ...type.strides.slice(before)]
    if (tensor !== undefined) {
      const view = viewOf(tensor, shape, strides)
      view.pinned = true
      return value(this.editor.addConstant(view, `${this.analysis.nameOf(id)} as an image`))
    }
    const image = this.editor.newValue({ ...type, shape, strides }, this.analysis.storage(id))
    const args = [value(id), constant(before)]
    nodes.push({ kind: 'operator', op: 'aten::unsqueeze', args, results: [{ kind: 'value', id: image }], writes: [], origin: node.origin })
    return value(image)
  }
}
