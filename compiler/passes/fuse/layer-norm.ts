import { Float } from '../../../runtime/tensor/scalar.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type OperatorNode, NONE, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputArg, inputOf, isNone, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { madeBy, plusNumber, replacesDense } from '../expression.js'
import { lastDims, type Norm, parameterStep, rootArgument, squareOf } from './normalization.js'
import type { Pass } from '../pass.js'

/**
 * Recognises layer norm written out (Ba, Kiros and Hinton, "Layer Normalization"), with its weight and bias where they follow.
 *
 *     %1 = aten::mean.dim(%0, [-1], True, None)
 *     %2 = aten::sub.Tensor(%0, %1, 1)
 *     %3 = aten::square(%2)
 *     %4 = aten::mean.dim(%3, [-1], True, None)
 *     %5 = aten::add.Scalar(%4, 1e-05, 1)
 *     %6 = aten::sqrt(%5)
 *     %7 = aten::div.Tensor(%2, %6)
 *     %8 = aten::mul.Tensor(%7, %weight)
 *     %9 = aten::add.Tensor(%8, %bias, 1)          →   %9 = aten::layer_norm(%0, [384], %weight, %bias, 1e-05, True)
 */
export const layerNorm: Pass = {
  name: 'layer norm',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const norm = normOf(node, analysis)
      if (norm === null || !replacesDense(node, norm.input, analysis)) continue
      const scaled = parameterStep('aten::mul.Tensor', node, norm.shape, analysis)
      const shifted = scaled === null ? null : parameterStep('aten::add.Tensor', scaled.node, norm.shape, analysis)
      const last = shifted?.node ?? scaled?.node ?? node
      const args = [
        value(norm.input),
        constant([...norm.shape]),
        scaled?.operand ?? NONE,
        shifted?.operand ?? NONE,
        constant(new Float(norm.eps)),
        constant(true),
      ]
      for (const part of new Set([node, scaled?.node ?? node])) if (part !== last) editor.replaceNode(part, [])
      editor.replaceNode(last, [{ ...last, op: 'aten::layer_norm', args }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** (x - mean) / sqrt(var + eps), or times rsqrt. */
function normOf(node: OperatorNode, analysis: Analysis): Norm | null {
  if (onlyResult(node) === undefined) return null
  if (node.op === 'aten::div.Tensor')
    return centredOver(inputArg(node), rootArgument(named(node, 'other'), 'aten::sqrt', analysis), analysis)
  if (node.op !== 'aten::mul.Tensor') return null
  for (const [centred, inverse] of [node.args, node.args.toReversed()] as [Arg, Arg][]) {
    const found = centredOver(centred, rootArgument(inverse, 'aten::rsqrt', analysis), analysis)
    if (found !== null) return found
  }
  return null
}

function centredOver(centred: Arg, spread: Arg | undefined, analysis: Analysis): Norm | null {
  const difference = madeBy(centred, analysis)
  const plus = spread === undefined ? null : plusNumber(spread, analysis)
  if (difference?.op !== 'aten::sub.Tensor' || numberArg(named(difference, 'alpha')) !== 1 || plus === null) return null
  const input = inputOf(difference)
  const mean = madeBy(named(difference, 'other'), analysis)
  if (input === undefined || mean?.op !== 'aten::mean.dim' || inputOf(mean) !== input || !isNone(named(mean, 'dtype'))) return null
  const { shape } = analysis.type(input)
  const count = lastDims(named(mean, 'dim'), named(mean, 'keepdim'), shape.length)
  // a single element is its own mean
  if (count === 0 || numelOf(shape.slice(shape.length - count)) === 1) return null
  const variance = madeBy(plus.term, analysis)
  if (variance === undefined || !isVariance(variance, input, difference, count, shape.length, analysis)) return null
  return { input, shape: shape.slice(shape.length - count), eps: plus.number }
}

/** The mean of squared distances from the mean, or `var` without Bessel's correction. */
function isVariance(
  node: OperatorNode,
  input: ValueId,
  difference: OperatorNode,
  count: number,
  rank: number,
  analysis: Analysis,
): boolean {
  const isOverRows = (): boolean => lastDims(named(node, 'dim'), named(node, 'keepdim'), rank) === count
  if (node.op === 'aten::var.correction') return numberArg(named(node, 'correction')) === 0 && inputOf(node) === input && isOverRows()
  if (node.op !== 'aten::mean.dim' || !isNone(named(node, 'dtype')) || !isOverRows()) return false
  const isDifference = (arg: Arg): boolean => {
    const found = madeBy(arg, analysis)
    if (found === difference) return true
    return found?.op === 'aten::sub.Tensor' && [0, 1].every((i) => valueArg(found.args[i]) === valueArg(difference.args[i]))
  }
  return squareOf(inputArg(node), analysis)?.every(isDifference) ?? false
}
