import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { contiguousStrides, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, constant, type OperatorNode, NONE, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputArg, inputOf, isNone, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { madeBy, near, plusNumber, productOf, replacesDense } from '../expression.js'
import { lastDims, type Norm, parameterStep, rootArgument, squareOf } from './normalization.js'
import type { Pass } from '../pass.js'

/**
 * Recognises root mean square normalization written out (Zhang and Sennrich, "Root Mean Square Layer Normalization"), as Llama, T5 and
 * Gemma do it, with its weight where that follows.
 *
 *     %1 = aten::square(%0)
 *     %2 = aten::mean.dim(%1, [-1], True, None)
 *     %3 = aten::add.Tensor(%2, 1e-06, 1)
 *     %4 = aten::rsqrt(%3)
 *     %5 = aten::mul.Tensor(%0, %4)
 *     %6 = aten::mul.Tensor(%weight, %5)           →   %6 = aten::rms_norm(%0, [1024], %weight, 1e-06)
 */
export const rmsNorm: Pass = {
  name: 'rms norm',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const norm = normOf(node, analysis)
      if (norm === null || !analysis.isPure(node) || !analysis.isSteady(norm.input)) continue
      const scaled = parameterStep('aten::mul.Tensor', node, norm.shape, analysis)
      const last = scaled?.node ?? node
      const args = [constant([...norm.shape]), scaled?.operand ?? NONE, constant(new Float(norm.eps))]
      const whole = replacesDense(last, norm.input, analysis)
        ? [{ ...last, op: 'aten::rms_norm', args: [value(norm.input), ...args] }]
        : inOrderOfMemory(last, norm, args, analysis, editor)
      if (whole === null) continue
      if (scaled !== null) editor.replaceNode(node, [])
      editor.replaceNode(last, whole)
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/**
 * The norm of rows whose order in memory is another one than that of the dimensions, as of heads: the same rows in that order, which a
 * permutation shows as before.
 */
function inOrderOfMemory(
  node: OperatorNode,
  { input, shape }: Norm,
  args: readonly Arg[],
  analysis: Analysis,
  editor: Editor,
): OperatorNode[] | null {
  const result = onlyResult(node)!
  const [x, out] = [analysis.type(input), analysis.type(result)]
  const rank = out.shape.length
  if (x.dtype !== DType.float32 || out.dtype !== DType.float32 || !sameShape(x.shape, out.shape) || out.shape.includes(0)) return null
  const order = out.shape.map((_, d) => d).sort((a, b) => out.strides[b]! - out.strides[a]!)
  const permuted = (list: readonly number[]): number[] => order.map((d) => list[d]!)
  const ordered = permuted(out.shape)
  if (
    !sameShape(permuted(out.strides), contiguousStrides(ordered)) ||
    order.slice(rank - shape.length).some((d, i) => d !== rank - shape.length + i)
  )
    return null
  if (analysis.outputs.has(analysis.storage(result))) return null
  const rows = editor.newValue({ ...x, shape: ordered, strides: permuted(x.strides) }, analysis.storage(input))
  const normed = editor.newValue({ ...out, shape: ordered, strides: contiguousStrides(ordered) }, analysis.storage(result))
  const back = order.map((_, d) => order.indexOf(d))
  const made = (op: string, list: readonly Arg[], id: ValueId): OperatorNode => ({
    ...node,
    op,
    args: list,
    results: [{ kind: 'value', id }],
  })
  return [
    made('aten::permute', [value(input), constant(order)], rows),
    made('aten::rms_norm', [value(rows), ...args], normed),
    made('aten::permute', [value(normed), constant(back)], result),
  ]
}

/** x / sqrt(mean(x^2) + eps), or times rsqrt. */
function normOf(node: OperatorNode, analysis: Analysis): Norm | null {
  if (onlyResult(node) === undefined) return null
  const [a, b] = node.args as [Arg, Arg]
  if (node.op === 'aten::div.Tensor') return over(a, rootArgument(b, 'aten::sqrt', analysis), analysis)
  if (node.op !== 'aten::mul.Tensor') return null
  return over(a, rootArgument(b, 'aten::rsqrt', analysis), analysis) ?? over(b, rootArgument(a, 'aten::rsqrt', analysis), analysis)
}

/** The norm of `x` whose root is taken of `spread`, the mean of its squares with a number added. */
function over(x: Arg, spread: Arg | undefined, analysis: Analysis): Norm | null {
  const input = valueArg(x)
  const plus = spread === undefined ? null : plusNumber(spread, analysis)
  if (input === undefined || plus === null || valueArg(plus.term) === undefined) return null
  const mean = meanOf(plus.term, analysis)
  const squared = squareOf(mean?.of, analysis)?.every((factor) => valueArg(factor) === input)
  return mean !== null && squared === true ? { input, shape: mean.shape, eps: plus.number } : null
}

/** A mean over the last dimensions, which are kept: `mean`, or a sum over their size. */
function meanOf(arg: Arg, analysis: Analysis): { of: Arg; shape: readonly number[] } | null {
  const { scale, factors } = productOf(arg, analysis)
  const made = factors.length === 1 ? madeBy(value(factors[0]!), analysis) : undefined
  if ((made?.op !== 'aten::mean.dim' && made?.op !== 'aten::sum.dim_IntList') || !isNone(named(made, 'dtype'))) return null
  const input = inputOf(made)
  if (input === undefined) return null
  const shape = analysis.type(input).shape
  const normalized = shape.slice(shape.length - lastDims(named(made, 'dim'), named(made, 'keepdim'), shape.length))
  if (normalized.length === 0 || normalized.length > shape.length || numelOf(normalized) === 0) return null
  const count = made.op === 'aten::mean.dim' ? 1 : numelOf(normalized)
  return near(scale, 1 / count) ? { of: inputArg(made), shape: normalized } : null
}
