import { cacheSizes, fitsBottleneck } from '../../runtime/backends/cpu/support/blocked-strip.js'
import { Gate } from '../../runtime/native/generated/kernels.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { numelOf } from '../../runtime/tensor/shape.js'
import { type Arg, constant, type Graph, type GraphNode, NONE } from '../graph/graph.js'
import { Analysis, integersArg, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { GATES } from './squeeze-excite.js'
import type { Pass } from './pass.js'

/**
 * Depthwise convolutions over blocks of channels take the pointwise ones around them in, where what they hand to one another would not
 * stay in the second-level cache: the kernel computes some rows at a time.
 *
 *     %3 = ptlite::blocked_convolution(%0, %a, ..., 0., 6.)
 *     %4 = ptlite::blocked_depthwise(%3, %b, ..., 0., 6.)
 *     %5 = ptlite::blocked_convolution(%4, %c, ..., %0, ...)      →   %5 = ptlite::blocked_bottleneck(%0, %a, ..., %b, ..., %c, ..., %0, ...)
 *
 * Sums are taken in the same order: same bits.
 */
export const bottlenecks: Pass = {
  name: 'bottlenecks',
  run(graph) {
    const analysis = new Analysis(graph)
    const found = graph.nodes.flatMap((node) => (node.op === 'ptlite::blocked_depthwise' ? chainsAround(node, analysis) : []))
    return found.length === 0 ? graph : rewrite(graph, found)
  },
}

/** Second-level caches that the elements of an image between two layers take: fewer are read about as fast from what cores have cached. */
const MOST_CACHED = 1.5

/** A convolution and the gate behind it. */
interface Layer {
  readonly node: GraphNode
  readonly gate: GraphNode | undefined
}

interface Chain {
  readonly expand: Layer | undefined
  readonly depthwise: Layer
  readonly project: Layer | undefined
  /** Bytes of tensors that need no memory any more. */
  readonly saved: number
}

const nodesOf = ({ expand, depthwise, project }: Chain): GraphNode[] =>
  [expand, depthwise, project].flatMap((layer) => [layer?.node, layer?.gate]).filter((node) => node !== undefined)

/** The longer and the shorter chains that a depthwise convolution can be in. */
function chainsAround(node: GraphNode, analysis: Analysis): Chain[] {
  const depthwise = withGate(node, analysis)
  if (depthwise === null || !fits(node, analysis)) return []
  const expand = layerBefore(node, analysis)
  const project = layerBehind(depthwise, analysis)
  const most = MOST_CACHED * cacheSizes().l2 * analysis.type(resultOf(depthwise)).shape[0]!
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

function fits({ args }: GraphNode, analysis: Analysis): boolean {
  const [input, filter] = [valueArg(args[0]), valueArg(args[1])]
  const shape = filter === undefined ? undefined : analysis.tensor(filter)?.shape
  const [stride, padding, dilation] = [3, 4, 5].map((i) => integersArg(args[i])) as number[][]
  if (input === undefined || shape === undefined || [stride, padding, dilation].some((list) => list?.length !== 2 || list[0] !== list[1]))
    return false
  const [, kernel, width] = shape as [number, number, number]
  const columns = Math.floor((analysis.type(input).shape[3]! + 2 * padding![0]! - kernel) / stride![0]!) + 1
  return kernel === width && dilation![0] === 1 && fitsBottleneck(kernel, stride![0]!, padding![0]!, columns)
}

const resultOf = ({ node, gate }: Layer): number => onlyResult(gate ?? node)!

/** A convolution with the gate that alone reads its result, if there is one; null where other memory is involved. */
function withGate(node: GraphNode, analysis: Analysis): Layer | null {
  const result = onlyResult(node)
  if (result === undefined || !analysis.isPure(node)) return null
  const next = analysis.onlyReader(result)
  const gate = next !== undefined && next.op in GATES && onlyResult(next) !== undefined && analysis.isPure(next) ? next : undefined
  return { node, gate }
}

/** A pointwise convolution over blocks of channels. */
function isPointwise({ op, args }: GraphNode, analysis: Analysis): boolean {
  if (op !== 'ptlite::blocked_convolution') return false
  const [input, filter] = [valueArg(args[0]), valueArg(args[1])]
  if (input === undefined || filter === undefined || analysis.type(input).shape.length !== 5) return false
  const settings = [4, 5].map((i) => integersArg(args[i])?.join()).join(' ')
  return settings === '1,1 0,0' && analysis.type(filter).shape[1] === 1 && analysis.type(filter).shape[2] === 1
}

/** The pointwise convolution whose result only the depthwise one reads. */
function layerBefore(depthwise: GraphNode, analysis: Analysis): Layer | undefined {
  const input = valueArg(depthwise.args[0])!
  if (analysis.onlyReader(input) !== depthwise) return undefined
  const last = analysis.producer(input)
  const inner = last !== undefined && last.op in GATES ? analysis.producer(valueArg(last.args[0]) ?? -1) : last
  if (inner === undefined || !isPointwise(inner, analysis) || !isNone(inner.args[3])) return undefined
  const layer = withGate(inner, analysis)
  return layer !== null && resultOf(layer) === input ? layer : undefined
}

/** The pointwise convolution that alone reads what a layer makes. */
function layerBehind(layer: Layer, analysis: Analysis): Layer | undefined {
  const result = resultOf(layer)
  const next = analysis.onlyReader(result)
  const reads = next !== undefined && valueArg(next.args[0]) === result && isPointwise(next, analysis)
  return reads ? (withGate(next, analysis) ?? undefined) : undefined
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
  const weights = (layer: Layer | undefined): Arg[] => layer?.node.args.slice(1, 3) ?? [NONE, NONE]
  const layers = [expand, depthwise, project]
  const gates = layers.map((layer) => (layer?.gate === undefined ? Gate.none : GATES[layer.gate.op]!))
  const limits = layers.flatMap((layer) => layer?.node.args.slice(-2).map((arg) => numberArg(arg)!) ?? [-Infinity, Infinity])
  const { args } = depthwise.node
  const setting = (i: number): Arg => constant(integersArg(args[i])![0]!)
  return {
    ...last,
    op: 'ptlite::blocked_bottleneck',
    args: [
      ...[(expand ?? depthwise).node.args[0]!, ...weights(expand), ...weights(depthwise), ...weights(project)],
      ...[project?.node.args[3] ?? NONE, setting(3), setting(4), constant(gates), constant(limits.map((limit) => new Float(limit)))],
    ],
  }
}
