import { DType } from '../../../runtime/tensor/dtype.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, type Graph, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, integersArg, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { canStandFor } from './copies.js'
import { Editor } from '../editor.js'
import { elementwiseSteps } from '../fuse/elementwise-operators.js'
import { madeBy } from '../expression.js'
import { type Pass, untilStable } from '../pass.js'

/**
 * Leaves out what changes nothing: factors of one, zeros added or subtracted, relu of what is not negative, two negations, a cast
 * to a wider dtype and back, a copy that turns a permuted copy back, an expansion for an operator that broadcasts.
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
  const analysis = analysisOf(graph)
  const editor = new Editor(graph)
  let changed = false
  for (const node of operatorsOf(graph)) {
    const same = sameAs(node, analysis) ?? turnedBack(node, analysis)
    if (same !== undefined && canStandFor(same, node, analysis)) {
      editor.replaceValue(onlyResult(node)!, same)
      editor.replaceNode(node, [])
      changed = true
      continue
    }
    const args = broadcastArgs(node, analysis)
    if (args === null) continue
    editor.replaceNode(node, [{ ...node, args }])
    changed = true
  }
  return changed ? editor.finish() : graph
}

/** Operators whose results relu leaves as they are, NaN included. */
const NOT_NEGATIVE = new Set(
  ['relu', 'relu6', 'exp', 'sigmoid', 'hardsigmoid', 'abs', 'square', 'sqrt', 'softmax.int'].map((name) => `aten::${name}`),
)

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
function sameAs(node: OperatorNode, analysis: Analysis): ValueId | undefined {
  const { op } = node
  const input = inputOf(node)
  if (input === undefined) return undefined
  const producer = analysis.producer(input)
  const inner = producer?.kind === 'operator' && analysis.isPure(producer) ? inputOf(producer) : undefined
  switch (op) {
    case 'aten::mul.Scalar':
    case 'aten::div.Scalar':
      return numberArg(named(node, 'other')) === 1 ? input : undefined
    case 'aten::pow.Tensor_Scalar':
      return numberArg(named(node, 'exponent')) === 1 ? input : undefined
    case 'aten::add.Scalar':
    case 'aten::sub.Scalar':
      return numberArg(named(node, 'other')) === 0 ? input : undefined
    case 'aten::relu':
      return producer?.kind === 'operator' && NOT_NEGATIVE.has(producer.op) ? input : undefined
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

/** What a dense copy shows in the order of an earlier value, whose elements were permuted and copied in between. */
function turnedBack(node: OperatorNode, analysis: Analysis): ValueId | undefined {
  const result = onlyResult(node)
  if (node.op !== 'aten::contiguous' || result === undefined) return undefined
  let order = analysis.type(result).shape.map((_, d) => d)
  for (let made: OperatorNode | undefined = node; made !== undefined;) {
    const from = inputOf(made)
    if (from === undefined || (made.op !== 'aten::contiguous' && made.op !== 'aten::permute')) return undefined
    const permutation = made.op === 'aten::permute' ? integersArg(named(made, 'dims')) : undefined
    const rank = order.length
    if (permutation !== undefined) order = order.map((d) => (permutation[d]! + rank) % rank)
    if (made !== node && permutation !== undefined && order.every((d, i) => d === i) && canStandFor(from, node, analysis)) return from
    made = madeBy(value(from), analysis)
  }
  return undefined
}

/** The arguments of an element-wise operator without expansions that broadcasting does too; null where there are none. */
function broadcastArgs(node: OperatorNode, analysis: Analysis): Arg[] | null {
  const result = onlyResult(node)
  const sources = node.args.map((arg) => expansionOf(arg, analysis))
  if (result === undefined || sources.every((source) => source === undefined)) return null
  if (!analysis.isPure(node) || elementwiseSteps(node, analysis) === null) return null
  const { shape, strides } = analysis.type(result)
  // another operand has to have the result's shape and layout
  const isFull = (arg: Arg, i: number): boolean => {
    const id = valueArg(arg)
    if (id === undefined || sources[i] !== undefined) return false
    const type = analysis.type(id)
    return sameShape(type.shape, shape) && sameShape(type.strides, strides)
  }
  return node.args.some(isFull) ? node.args.map((arg, i) => (sources[i] === undefined ? arg : value(sources[i]))) : null
}

/** What an argument is an expansion of, but for values of no dimensions, which have no say in the dtype of a result. */
function expansionOf(arg: Arg, analysis: Analysis): ValueId | undefined {
  const made = madeBy(arg, analysis)
  const source = made?.op === 'aten::expand' ? inputOf(made) : undefined
  return source !== undefined && analysis.type(source).shape.length > 0 ? source : undefined
}
