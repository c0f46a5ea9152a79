import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { type Arg, constant, type Graph, type GraphNode } from '../graph/graph.js'
import { Analysis, integersArg, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { type Pass, untilStable } from './pass.js'

/** Bounds that an operator puts on its argument. NaN passes through all of them, and through the kernels. */
interface Bounds {
  readonly min: number
  readonly max: number
}

/**
 * Moves relu, relu6 and clamps into the convolution or linear layer before them, whose kernels clamp while
 * results are still in registers.
 *
 *     %3 = aten::conv2d(%0, %1, %2, [1, 1], ...)
 *     %4 = aten::relu(%3)                          →   %4 = ptlite::convolution(%0, %1, %2, [1, 1], ..., 0., inf)
 */
export const activation: Pass = {
  name: 'activation',
  // a clamp behind a clamp needs a second round
  run: untilStable(foldOnce),
}

function foldOnce(graph: Graph): Graph {
  const analysis = new Analysis(graph)
  const editor = new Editor(graph)
  const taken = new Set<GraphNode>()
  for (const node of graph.nodes) {
    const bounds = boundsOf(node)
    const input = valueArg(node.args[0])
    if (bounds === null || input === undefined || onlyResult(node) === undefined) continue
    const producer = analysis.producer(input)
    if (producer === undefined || taken.has(producer) || taken.has(node) || analysis.onlyReader(input) !== node) continue
    if (!analysis.isPure(producer) || !analysis.isPure(node)) continue
    const clamped = analysis.type(input).dtype === DType.float32 ? clampProduct(producer, bounds, analysis) : null
    if (clamped === null) continue
    taken.add(producer).add(node)
    editor.replaceNode(producer, [])
    editor.replaceNode(node, [{ ...clamped, results: node.results }])
  }
  return taken.size === 0 ? graph : editor.finish()
}

function boundsOf(node: GraphNode): Bounds | null {
  const { op, args } = node
  const bound = (arg: Arg | undefined, none: number): number | undefined => (isNone(arg) ? none : numberArg(arg))
  const range = (min: number | undefined, max: number | undefined): Bounds | null =>
    min === undefined || max === undefined || Number.isNaN(min) || Number.isNaN(max) || min > max ? null : { min, max }
  switch (op) {
    case 'aten::relu':
      return { min: 0, max: Infinity }
    case 'aten::relu6':
      return { min: 0, max: 6 }
    case 'aten::clamp':
      return range(bound(args[1], -Infinity), bound(args[2], Infinity))
    case 'aten::clamp_min':
      return range(numberArg(args[1]), Infinity)
    case 'aten::clamp_max':
      return range(-Infinity, numberArg(args[1]))
    default:
      return null
  }
}

/** Stride, padding and dilation of an aten::conv1d, conv2d or conv3d, one per dimension; null for paddings by name. */
export function convolutionSettings(node: GraphNode): Arg[] | null {
  const dims = Number(node.op.slice(10, 11))
  const settings = [3, 4, 5].map((i) => integersArg(node.args[i]))
  if (settings.some((list) => list === undefined)) return null
  return settings.map((list) => constant(list!.length === 1 ? new Array<number>(dims).fill(list![0]!) : list!))
}

/** The product with bounds on its result; null for operators whose kernels cannot clamp. */
function clampProduct(node: GraphNode, { min, max }: Bounds, analysis: Analysis): GraphNode | null {
  const limits = [constant(new Float(min)), constant(new Float(max))]
  switch (node.op) {
    case 'aten::conv1d':
    case 'aten::conv2d':
    case 'aten::conv3d': {
      const settings = convolutionSettings(node)
      if (settings === null) return null
      return { ...node, op: 'ptlite::convolution', args: [...node.args.slice(0, 3), ...settings, node.args[6]!, ...limits] }
    }
    case 'aten::linear': {
      const weight = valueArg(node.args[1])
      if (weight === undefined || analysis.type(weight).shape.length !== 2) return null
      return { ...node, op: 'ptlite::linear', args: [...node.args, ...limits] }
    }
    case 'ptlite::convolution':
    case 'ptlite::blocked_convolution':
    case 'ptlite::blocked_grouped_convolution':
    case 'ptlite::blocked_depthwise':
    case 'ptlite::winograd_convolution':
    case 'ptlite::linear': {
      const before = node.args.slice(-2).map((arg) => numberArg(arg)!) as [number, number]
      const clamp = (x: number): Arg => constant(new Float(Math.min(Math.max(x, min), max)))
      return { ...node, args: [...node.args.slice(0, -2), clamp(before[0]), clamp(before[1])] }
    }
    default:
      return null
  }
}
