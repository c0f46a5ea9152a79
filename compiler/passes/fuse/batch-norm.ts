import { DType } from '../../../runtime/tensor/dtype.js'
import { isRounded, isRoundedFilter } from '../../../runtime/operators/support/rounded-weight.js'
import { readTensor } from '../../../runtime/tensor/data.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { callOnce } from '../../graph/evaluate.js'
import { type OperatorNode, value } from '../../graph/graph.js'
import { constantOf } from '../../graph/shared-constants.js'
import { type Analysis, analysisOf, inputOf, isFlag, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/** Products whose outputs are scaled by scaling their weights: position of weight, bias and, where the weight's outputs are its second dimension, groups. */
const PRODUCTS: Readonly<Record<string, { weight: number; bias: number; groups?: number }>> = {
  'aten::conv1d': { weight: 1, bias: 2 },
  'aten::conv2d': { weight: 1, bias: 2 },
  'aten::conv3d': { weight: 1, bias: 2 },
  'aten::conv_transpose1d': { weight: 1, bias: 2, groups: 6 },
  'aten::conv_transpose2d.input': { weight: 1, bias: 2, groups: 6 },
  'aten::conv_transpose3d.input': { weight: 1, bias: 2, groups: 6 },
  'aten::linear': { weight: 1, bias: 2 },
}

/**
 * Folds batch norm over fixed statistics into the convolution or linear layer before it (Jacob et al., "Quantization and
 * Training of Neural Networks", section 3.2): s = gamma / sqrt(var + eps), weight * s, (bias - mean) * s + beta.
 *
 *     %5 = aten::conv2d(%0, %1, None, ...)                               constant %7 = "conv.weight with batch norm"
 *     %6 = aten::batch_norm(%5, %2, %3, %4, %5, False, 0.1, 1e-05, ...)  →  %6 = aten::conv2d(%0, %7, %8, ...)
 *
 * Results differ from those of both operators one after the other by roundings.
 */
export const batchNorm: Pass = {
  name: 'batch norm',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const norm of graph.nodes) {
      if (norm.op === 'aten::batch_norm' && fold(norm, analysis, editor)) changed = true
    }
    return changed ? editor.finish() : graph
  },
}

function fold(norm: OperatorNode, analysis: Analysis, editor: Editor): boolean {
  const input = inputOf(norm)
  const product = input === undefined ? undefined : analysis.producer(input)
  const slots = product?.kind === 'operator' ? PRODUCTS[product.op] : undefined
  if (input === undefined || product?.kind !== 'operator' || slots === undefined || analysis.onlyReader(input) !== norm) return false
  const eps = numberArg(named(norm, 'eps'))
  if (!isFlag(named(norm, 'training'), false) || eps === undefined) return false
  if (!analysis.isPure(product) || !analysis.isPure(norm)) return false
  // channels have to be the outputs: batch norm's are dimension 1, those of linear the last one
  if (product.op === 'aten::linear' && analysis.type(input).shape.length !== 2) return false
  if (
    product.op !== 'aten::linear' &&
    analysis.type(input).shape.length !== analysis.type(valueArg(product.args[slots.weight]) ?? input).shape.length
  )
    return false
  const optional = (node: OperatorNode, i: number): Tensor | null | undefined => {
    const id = valueArg(node.args[i])
    return id === undefined ? (isNone(node.args[i]) ? null : undefined) : analysis.tensor(id)
  }
  const weight = optional(product, slots.weight)
  const bias = optional(product, slots.bias)
  const [gamma, beta, mean, variance] = [1, 2, 3, 4].map((i) => optional(norm, i))
  if (weight === undefined || weight === null || bias === undefined || gamma === undefined || beta === undefined) return false
  // which is rounded as the module has it
  if (product.op === 'aten::linear' ? isRounded(weight) : roundsFilter(product, weight)) return false
  if (mean === undefined || mean === null || variance === undefined || variance === null) return false
  const all = [weight, bias, gamma, beta, mean, variance].filter((t) => t !== null)
  if (all.some((t) => t.type !== DType.float32) || analysis.type(input).dtype !== DType.float32) return false
  const groups = slots.groups === undefined ? null : numberArg(product.args[slots.groups])
  if (groups === undefined) return false
  const channels = groups === null ? weight.shape[0]! : weight.shape[1]! * groups
  if (all.some((t) => t !== weight && (t.shape.length !== 1 || t.shape[0] !== channels))) return false

  const numbers = (t: Tensor | null, fallback: number): ArrayLike<number> =>
    t === null ? new Array<number>(channels).fill(fallback) : (readTensor(t) as Float32Array)
  const [b, g, h, m, v] = [numbers(bias, 0), numbers(gamma, 1), numbers(beta, 0), numbers(mean, 0), numbers(variance, 1)]
  const scale = Float32Array.from({ length: channels }, (_, i) => g[i]! / Math.sqrt(v[i]! + eps))
  const shift = Float32Array.from({ length: channels }, (_, i) => ((b[i]! - m[i]!) * g[i]!) / Math.sqrt(v[i]! + eps) + h[i]!)
  const factor =
    groups === null ? constantOf(scale, [channels, ...weight.shape.slice(1).map(() => 1)]) : factorOfTransposed(scale, weight, groups)
  const [scaled] = callOnce('aten::mul.Tensor', [weight, factor]) as [Tensor]
  factor.release()
  const name = analysis.nameOf(valueArg(product.args[slots.weight])!)
  const args = [...product.args]
  args[slots.weight] = value(editor.addConstant(scaled, `${name} with batch norm`))
  args[slots.bias] = value(editor.addConstant(constantOf(shift, [channels]), `${name} with batch norm: bias`))
  editor.replaceNode(product, [])
  editor.replaceNode(norm, [{ ...product, args, results: [{ kind: 'value', id: onlyResult(norm)! }] }])
  return true
}

function roundsFilter(node: OperatorNode, weight: Tensor): boolean {
  return PRODUCTS[node.op]!.groups === undefined && isRoundedFilter(weight, numberArg(named(node, 'groups')))
}

/** What each element of a transposed convolution's weight [inputs, outputs / groups, ...] is scaled with. */
function factorOfTransposed(scale: Float32Array, { shape }: Tensor, groups: number): Tensor {
  const [inputs, outputs] = shape as [number, number]
  const factor = Float32Array.from({ length: inputs * outputs }, (_, i) => {
    const group = Math.floor(Math.floor(i / outputs) / (inputs / groups))
    return scale[group * outputs + (i % outputs)]!
  })
  return constantOf(factor, [inputs, outputs, ...shape.slice(2).map(() => 1)])
}
