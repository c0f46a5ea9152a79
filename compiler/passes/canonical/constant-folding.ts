import { numelOf } from '../../../runtime/tensor/shape.js'
import { itemSize } from '../../../runtime/tensor/dtype.js'
import { evaluateNode } from '../../graph/evaluate.js'
import { definitionsOf, type Graph, type GraphNode } from '../../graph/graph.js'
import { nameOf, usesOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf } from '../analysis.js'
import { Editor } from '../editor.js'
import { type Pass, untilStable } from '../pass.js'
import { isDequantization } from './weight-only.js'

/** Memory that a constant may take without being smaller than what it is made from, and all such constants together. */
const MAX_BYTES = 4 << 20
const MAX_TOTAL_BYTES = 64 << 20

/**
 * Computes what depends on constants alone, once.
 *
 *     constant %1: float32[10, 16] @1 = "weight"
 *     %2: float32[16, 10] strides [1, 16] @1 = aten::t(%1)          constant %5: float32[16, 10] strides [1, 16] @1 = "aten::t"
 *     %3: float32[1, 10] @2 = aten::mm(%0, %2)                →     %3: float32[1, 10] @2 = aten::mm(%0, %5)
 *
 * Outputs stay computed: each run has to return tensors of its own. Guards on the constants that were recorded cover
 * those made from them.
 */
export const constantFolding: Pass = {
  name: 'constant folding',
  run: untilStable((graph) => foldOnce(graph, () => false)),
}

/** The same, but for the floats of integers that layers may read as they are. */
export const foldingButIntegers: Pass = {
  name: 'constant folding',
  run: untilStable((graph) => foldOnce(graph, isWeightOfIntegers)),
}

/** The dequantization of a constant of two or more dimensions. */
function isWeightOfIntegers(node: GraphNode, analysis: Analysis): boolean {
  const input = node.kind === 'operator' && node.op.startsWith('quantized_decomposed::dequantize') ? inputOf(node) : undefined
  return input !== undefined && analysis.type(input).shape.length > 1
}

function foldOnce(graph: Graph, stays: (node: GraphNode, analysis: Analysis) => boolean): Graph {
  const analysis = analysisOf(graph)
  const budget = { left: MAX_TOTAL_BYTES - derivedBytes(graph) }
  const foldable = graph.nodes.filter((node) => !stays(node, analysis) && canFold(node, analysis, budget))
  if (foldable.length === 0) return graph
  const editor = new Editor(graph)
  for (const node of foldable) {
    const tensors = evaluateNode(node, graph, (id) => analysis.tensor(id)!)
    for (const [id, tensor] of tensors) editor.replaceValue(id, editor.addConstant(tensor, nameOf(node)))
    editor.replaceNode(node, [])
  }
  return editor.finish()
}

/** Bytes that the constants made so far hold, views of those of the module not counted. */
function derivedBytes({ constants }: Graph): number {
  const given = new Set(constants.filter((c) => !c.derived).map((c) => c.tensor.storage))
  const made = new Set(constants.map((c) => c.tensor.storage).filter((storage) => !given.has(storage)))
  return [...made].reduce((sum, storage) => sum + storage.byteLength, 0)
}

function canFold(node: GraphNode, analysis: Analysis, budget: { left: number }): boolean {
  const uses = usesOf(node)
  if (!analysis.isPure(node) || uses.some((id) => analysis.tensor(id) === undefined)) return false
  const results = definitionsOf(node)
  if (results.length === 0 || results.some((id) => analysis.outputs.has(analysis.storage(id)))) return false
  const bytes = (id: number): number => numelOf(analysis.type(id).shape) * itemSize(analysis.type(id).dtype)
  const made = results.filter((id) => !analysis.given.has(analysis.storage(id))).reduce((sum, id) => sum + bytes(id), 0)
  // an expanded tensor has more elements than memory
  const taken = uses.reduce((sum, id) => sum + Math.min(bytes(id), analysis.tensor(id)!.storage.byteLength), 0)
  // what is no larger than its source may take that one's place
  if (made <= taken) return true
  const isWeight = node.kind === 'operator' && isDequantization(node, analysis)
  if ((made > MAX_BYTES && !isWeight) || made > budget.left) return false
  budget.left -= made
  return true
}
