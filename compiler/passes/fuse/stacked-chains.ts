import { JitAlgorithm } from '../../../runtime/native/generated/kernels.js'
import { Limit } from '../../../runtime/native/generated/numbers.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import { definitionsOf, type Graph, type GraphNode, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf } from '../analysis.js'
import { Editor } from '../editor.js'
import { canStep, type Chain, fuse } from './elementwise.js'
import { type Pass, untilStable } from '../pass.js'

/** Steps that no code is generated for: a chain with one of them is compiled as a whole. */
const COMPILED_ONLY = new Set<number>([JitAlgorithm.sin, JitAlgorithm.cos])

/**
 * Makes one pass over memory of two chains of one shape where the second reads a result of the first that others read as well: both are stored.
 *
 *     %3: float32[8, 64] @3 = aten::add.Tensor(%0, %1, 1)
 *     %4: float32[8, 64] @4 = aten::sigmoid(%3)
 *     return (%3, %4)                            →   [%3, %4] = chain(inputs=[%0, %1], ops=[28, 10], ..., kept=[0, 1], dtypes=[6, 6])
 *
 * So the states of an LSTM cell that is spelled out, c = f c + i g and h = o tanh(c), are one loop over its gates.
 */
export const stackedChains: Pass = { name: 'stacked chains', run: untilStable(stackOnce) }

/** A chain, and which of its steps are results. */
interface Stack extends Chain {
  readonly node: GraphNode
  /** In the order of steps; the last step is among them. */
  readonly results: readonly { readonly id: ValueId; readonly step: number }[]
}

function stackOnce(graph: Graph): Graph {
  const analysis = analysisOf(graph)
  const position = new Map(graph.nodes.map((node, i) => [node, i]))
  const editor = new Editor(graph)
  const taken = new Set<GraphNode>()
  for (const node of graph.nodes) {
    if (taken.has(node)) continue
    const second = stackOf(node, analysis)
    if (second === null) continue
    for (const id of second.inputs) {
      const producer = analysis.producer(id)
      const first = producer === undefined || taken.has(producer) ? null : stackOf(producer, analysis)
      const joined = first === null ? null : join(first, second, analysis)
      // where a neighbour moves this time, positions say nothing
      const place =
        joined === null || neighbours(first!, second, analysis).some((n) => taken.has(n))
          ? null
          : placeFor(first!, second, analysis, position)
      if (place === null) continue
      for (const part of [first!.node, second.node]) taken.add(part)
      editor.replaceNode(second.node, [])
      if (place === first!.node) {
        editor.replaceNode(place, [joined!])
      } else {
        editor.replaceNode(first!.node, [])
        editor.replaceNode(place, [place, joined!])
        taken.add(place)
      }
      break
    }
  }
  return taken.size === 0 ? graph : editor.finish()
}

/** A node as a chain; null for one that is none, or has none of its results' kind of code. */
function stackOf(node: GraphNode, analysis: Analysis): Stack | null {
  const ids = definitionsOf(node)
  if (!analysis.isPure(node) || ids.length === 0) return null
  const chain = node.kind === 'chain' ? node : canStep(node, analysis) ? fuse([node], analysis) : null
  if (chain === null || chain.ops.length === 0 || chain.ops.some((op) => COMPILED_ONLY.has(op)) || chain.kept.length !== ids.length)
    return null
  const { inputs, ops, values, numbers, kept } = chain
  return { node, inputs, ops, values, numbers, results: ids.map((id, i) => ({ id, step: kept[i]! })) }
}

/** Both as one node; null where `second` reads nothing of `first` that stays a result, or there is no room for them. */
function join(first: Stack, second: Stack, analysis: Analysis): GraphNode | null {
  const shape = analysis.type(second.results[0]!.id).shape
  const made = new Map(first.results.map(({ id, step }) => [id, step]))
  if (first.results.some(({ id }) => !sameShape(analysis.type(id).shape, shape))) return null
  const inputs = [...new Set([...first.inputs, ...second.inputs.filter((id) => !made.has(id))])]
  const needed = first.results.filter(
    ({ id }) => analysis.isReturned(id) || analysis.readersOf(id).some((reader) => reader !== second.node),
  )
  const results = [...needed, ...second.results.map(({ id, step }) => ({ id, step: step + first.ops.length }))]
  const ops = [...first.ops, ...second.ops]
  if (ops.length > Limit.CHAIN_STEPS || results.length > 1 + Limit.CHAIN_MORE || inputs.length + results.length - 1 > Limit.CHAIN_INPUTS)
    return null
  // steps are numbered behind the inputs
  const renumber = (chain: Chain, before: number): number[] =>
    chain.values.map((of) => {
      if (of < 0) return of
      if (of >= chain.inputs.length) return of - chain.inputs.length + inputs.length + before
      const id = chain.inputs[of]!
      const step = chain === second ? made.get(id) : undefined
      return step === undefined ? inputs.indexOf(id) : inputs.length + step
    })
  const values = [...renumber(first, 0), ...renumber(second, first.ops.length)]
  const items = results.map(({ id }) => ({ kind: 'value', id }) as const)
  return {
    ...baseOf(second.node),
    kind: 'chain',
    ...{ inputs, size: shape, ops, values, numbers: [...first.numbers, ...second.numbers] },
    kept: results.map(({ step }) => step),
    dtypes: results.map(({ id }) => analysis.type(id).dtype),
    results: items.length === 1 ? items : [{ kind: 'list', items }],
  }
}

/** Who makes what the two read, and reads what the first makes. */
function neighbours(first: Stack, second: Stack, analysis: Analysis): GraphNode[] {
  return [
    ...[...first.inputs, ...second.inputs].flatMap((id) => analysis.producer(id) ?? []),
    ...first.results.flatMap(({ id }) => analysis.readersOf(id)),
  ]
}

/** The node behind which all that the two read is there, and before which nobody else reads what they make; null where there is none. */
function placeFor(first: Stack, second: Stack, analysis: Analysis, position: ReadonlyMap<GraphNode, number>): GraphNode | null {
  let place = first.node
  for (const id of second.inputs) {
    const producer = analysis.producer(id)
    if (producer !== undefined && position.get(producer)! > position.get(place)!) place = producer
  }
  const readers = first.results.flatMap(({ id }) => analysis.readersOf(id)).filter((reader) => reader !== second.node)
  return readers.every((reader) => position.get(reader)! > position.get(place)!) ? place : null
}
