import { fitsBottleneck } from '../../../runtime/shapes/tiles.js'
import { Gate } from '../../../runtime/native/generated/kernels.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
import type { ConvolutionNode } from '../../graph/compiled.js'
import type { Layer } from '../../graph/fields.js'
import type { Graph, GraphNode } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import type { Target } from '../../target/target.js'
import { type Analysis, analysisOf, inputOf, onlyResult } from '../analysis.js'
import { Editor } from '../editor.js'
import { isPointwise } from '../layers.js'
import { gateOf } from './squeeze-excite.js'
import type { Pass } from '../pass.js'

/**
 * Depthwise convolutions over blocks of channels take the pointwise ones around them in, where what they hand to one another would not
 * stay in the second-level cache: the kernel computes some rows at a time.
 *
 *     %3 = convolution(input=%0, filter=%a, ..., clamp=[0., 6.])
 *     %4 = convolution(input=%3, filter=%b, strategy="depthwise", ..., clamp=[0., 6.])
 *     %5 = convolution(input=%4, filter=%c, residual=%0, ...)
 *         →   %5 = bottleneck(input=%0, expand=(%a, ...), depthwise=(%b, ...), project=(%c, ...), residual=%0, ...)
 *
 * Sums are taken in the same order: same bits.
 */
export const bottlenecks = ({ caches }: Target): Pass => ({
  name: 'bottlenecks',
  run(graph) {
    const analysis = analysisOf(graph)
    const found = graph.nodes.flatMap((node) => (isOf('depthwise', node) ? chainsAround(node, analysis, caches) : []))
    return found.length === 0 ? graph : rewrite(graph, found)
  },
})

/** Second-level caches that the elements of an image between two layers take: fewer are read about as fast from what cores have cached. */
const MAX_CACHED = 1.5

/** True for a convolution over blocks without steps, with a filter of float32. */
function isOf(strategy: ConvolutionNode['strategy'], node: GraphNode | undefined): node is ConvolutionNode {
  if (node?.kind !== 'convolution' || node.layout !== 'blocks' || node.post !== null) return false
  return node.strategy === strategy && node.filter.format === 'f32'
}

/** A convolution and the gate behind it. */
interface Gated {
  readonly node: ConvolutionNode
  readonly gate: GraphNode | undefined
}

interface Chain {
  readonly expand: Gated | undefined
  readonly depthwise: Gated
  readonly project: Gated | undefined
  /** Bytes of tensors that need no memory any more. */
  readonly saved: number
}

const nodesOf = ({ expand, depthwise, project }: Chain): GraphNode[] =>
  [expand, depthwise, project].flatMap((layer) => [layer?.node, layer?.gate] as const).filter((node) => node !== undefined)

/** The longer and the shorter chains that a depthwise convolution can be in. */
function chainsAround(node: ConvolutionNode, analysis: Analysis, { l2 }: Target['caches']): Chain[] {
  const depthwise = withGate(node, analysis)
  if (depthwise === null || !fits(node, analysis)) return []
  const expand = layerBefore(node, analysis)
  const project = layerBehind(depthwise, analysis)
  const most = MAX_CACHED * l2 * analysis.type(resultOf(depthwise)).shape[0]!
  const forms = [
    { expand, project },
    { expand, project: undefined },
    { expand: undefined, project },
  ]
  return forms.flatMap((form): Chain[] => {
    const between = [form.expand, form.project && depthwise].filter((layer) => layer !== undefined)
    const bytes = between.map((layer) => 4 * numelOf(analysis.type(resultOf(layer)).shape))
    return Math.max(0, ...bytes) > most ? [{ ...form, depthwise, saved: bytes.reduce((a, b) => a + b, 0) }] : []
  })
}

function fits({ input, filter, stride, padding, dilation }: ConvolutionNode, analysis: Analysis): boolean {
  const shape = analysis.tensor(filter.values)?.shape
  if (shape === undefined || [stride, padding, dilation].some((list) => list.length !== 2 || list[0] !== list[1])) return false
  const [, kernel, width] = shape as [number, number, number]
  const columns = Math.floor((analysis.type(input).shape[3]! + 2 * padding[0]! - kernel) / stride[0]!) + 1
  return kernel === width && dilation[0] === 1 && fitsBottleneck(kernel, stride[0]!, padding[0]!, columns)
}

const resultOf = ({ node, gate }: Gated): number => onlyResult(gate ?? node)!

/** A convolution with the gate that alone reads its result, if there is one; null where other memory is involved. */
function withGate(node: ConvolutionNode, analysis: Analysis): Gated | null {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node)) return null
  const next = analysis.onlyReader(result)
  const isGate = next !== undefined && gateOf(next) !== undefined && onlyResult(next) !== undefined && analysis.isPure(next)
  return { node, gate: isGate ? next : undefined }
}

/** A pointwise convolution over blocks of channels. */
function isPointwiseOverBlocks(node: GraphNode | undefined, analysis: Analysis): node is ConvolutionNode {
  if (!isOf('direct', node) || analysis.type(node.input).shape.length !== 5) return false
  return isPointwise(node, analysis.type(node.filter.values).shape.slice(1, 3))
}

/** The pointwise convolution whose result only the depthwise one reads. */
function layerBefore(depthwise: ConvolutionNode, analysis: Analysis): Gated | undefined {
  const { input } = depthwise
  if (analysis.onlyReader(input) !== depthwise) return undefined
  const last = analysis.producer(input)
  const isGate = last?.kind === 'operator' && gateOf(last) !== undefined
  const inner = isGate ? analysis.producer(inputOf(last) ?? -1) : last
  if (!isPointwiseOverBlocks(inner, analysis) || inner.residual !== null) return undefined
  const layer = withGate(inner, analysis)
  return layer !== null && resultOf(layer) === input ? layer : undefined
}

/** The pointwise convolution that alone reads what a layer makes. */
function layerBehind(layer: Gated, analysis: Analysis): Gated | undefined {
  const result = resultOf(layer)
  const next = analysis.onlyReader(result)
  return isPointwiseOverBlocks(next, analysis) && next.input === result ? (withGate(next, analysis) ?? undefined) : undefined
}

/** Chains that save most come first; each node is in one. */
function rewrite(graph: Graph, chains: readonly Chain[]): Graph {
  const editor = new Editor(graph)
  const taken = new Set<GraphNode>()
  for (const chain of [...chains].sort((a, b) => b.saved - a.saved)) {
    const nodes = nodesOf(chain)
    if (nodes.some((node) => taken.has(node))) continue
    const last = nodes.at(-1)!
    for (const node of nodes) {
      taken.add(node)
      editor.replaceNode(node, node === last ? [joined(chain, last)] : [])
    }
  }
  return editor.finish()
}

function joined({ expand, depthwise, project }: Chain, last: GraphNode): GraphNode {
  const { node } = depthwise
  return {
    ...baseOf(last),
    kind: 'bottleneck',
    input: (expand ?? depthwise).node.input,
    expand: layerOf(expand),
    depthwise: layerOf(depthwise)!,
    project: layerOf(project),
    residual: project?.node.residual ?? null,
    stride: node.stride[0]!,
    padding: node.padding[0]!,
  }
}

function layerOf(layer: Gated | undefined): Layer | null {
  if (layer === undefined) return null
  const { filter, bias, clamp } = layer.node
  return { filter: filter.values, bias, clamp, gate: layer.gate === undefined ? Gate.none : gateOf(layer.gate)! }
}
