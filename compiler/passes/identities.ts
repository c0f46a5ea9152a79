import { DType } from '../../runtime/tensor/dtype.js'
import type { Graph, GraphNode, ValueId } from '../graph/graph.js'
import { Analysis, numberArg, onlyResult, valueArg } from './analysis.js'
import { canStandFor } from './copies.js'
import { Editor } from './editor.js'
import { type Pass, untilStable } from './pass.js'

/**
 * Leaves out arithmetic that changes nothing: factors of one, zeros subtracted, relu of what is not negative, two negations, a cast
 * to a wider dtype and back.
 *
 *     %1 = aten::mul.Scalar(%0, 1)
 *     %2 = aten::to.dtype(%1, 7, ...)            (float64)
 *     %3 = aten::to.dtype(%2, 6, ...)            (float32)
 *     %4 = aten::exp(%3)                              →   %4 = aten::exp(%0)
 */
export const identities: Pass = {
  name: 'identities',
  run: untilStable(removeOnce),
}

function removeOnce(graph: Graph): Graph {
  const analysis = new Analysis(graph)
  const editor = new Editor(graph)
  let changed = false
  for (const node of graph.nodes) {
    const same = sameAs(node, analysis)
    if (same === undefined || !canStandFor(same, node, analysis)) continue
    editor.replaceValue(onlyResult(node)!, same)
    editor.replaceNode(node, [])
    changed = true
  }
  return changed ? editor.finish() : graph
}

/** Operators whose results relu leaves as they are, NaN included. */
const NOT_NEGATIVE = new Set(['aten::relu', 'aten::relu6', 'aten::exp', 'aten::sigmoid', 'aten::abs', 'aten::softmax.int'])

/** The dtypes that hold every value of another. */
const WIDER: Readonly<Partial<Record<number, readonly number[]>>> = {
  [DType.bool]: [DType.uint8, DType.int8, DType.int16, DType.int32, DType.int64, DType.float16, DType.float32, DType.float64],
  [DType.uint8]: [DType.int16, DType.int32, DType.int64, DType.float16, DType.float32, DType.float64],
  [DType.int8]: [DType.int16, DType.int32, DType.int64, DType.float16, DType.float32, DType.float64],
  [DType.int16]: [DType.int32, DType.int64, DType.float32, DType.float64],
  [DType.int32]: [DType.int64, DType.float64],
  [DType.float16]: [DType.float32, DType.float64],
  [DType.bfloat16]: [DType.float32, DType.float64],
  [DType.float32]: [DType.float64],
}

/** The value that has the same elements as the node's result. */
function sameAs(node: GraphNode, analysis: Analysis): ValueId | undefined {
  const { op, args } = node
  const input = valueArg(args[0])
  if (input === undefined) return undefined
  const producer = analysis.producer(input)
  const inner = producer === undefined || !analysis.isPure(producer) ? undefined : valueArg(producer.args[0])
  switch (op) {
    case 'aten::mul.Scalar':
    case 'aten::div.Scalar':
    case 'aten::pow.Tensor_Scalar':
      return numberArg(args[1]) === 1 ? input : undefined
    case 'aten::sub.Scalar':
      return numberArg(args[1]) === 0 ? input : undefined
    case 'aten::relu':
      return producer !== undefined && NOT_NEGATIVE.has(producer.op) ? input : undefined
    case 'aten::neg':
      return producer?.op === 'aten::neg' ? inner : undefined
    case 'aten::to.dtype': {
      if (producer?.op !== 'aten::to.dtype' || inner === undefined) return undefined
      const { dtype } = analysis.type(inner)
      return WIDER[dtype]?.includes(analysis.type(input).dtype) === true ? inner : undefined
    }
    default:
      return undefined
  }
}
