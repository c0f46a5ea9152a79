import { isRounded } from '../../../runtime/operators/support/rounded-weight.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { isContiguous, sameLayout, sameShape } from '../../../runtime/tensor/shape.js'
import { type Tensor, viewOf } from '../../../runtime/tensor/tensor.js'
import { named } from '../../graph/arguments.js'
import { callOnce } from '../../graph/evaluate.js'
import { type Arg, type OperatorNode, NONE, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, analysisOf, inputOf, isNone, numberArg, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import type { Pass } from '../pass.js'

/** Weights up to this size are transposed; larger ones stay as they are rather than take their memory twice. */
const MAX_TRANSPOSED_BYTES = 16 << 20

/**
 * Makes products with a constant matrix into linear layers, whose weights are packed once, with the bias that is added to them.
 * The permutation of the weight disappears with it, and factors of a product and its bias become part of the constants.
 *
 *     %2 = aten::t(%1)                        (folded: strides [1, 8])
 *     %3 = aten::addmm(%bias, %0, %2, 1, 1)           →   %3 = aten::linear(%0, %1, %bias)
 *
 *     %3 = aten::matmul(%0, %2)
 *     %4 = aten::add.Tensor(%3, %bias, 1)             →   %4 = aten::linear(%0, %1, %bias)
 */
export const linearLayers: Pass = {
  name: 'linear layers',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const product = productOf(node, analysis) ?? layerWithoutBias(node, analysis)
      if (product === null) continue
      const sum = product.bias === null ? biasAfter(node, product.columns, analysis) : null
      if (sum === null && node.op === 'aten::linear') continue
      if (typeof product.weight === 'number' && roundsOtherwise(product.weight, product, analysis)) continue
      const weight = typeof product.weight === 'number' ? weightOf(product.weight, product.alpha, analysis, editor) : product.weight
      if (weight === null) continue
      changed = true
      const bias = sum ?? product.bias
      const args = [product.input, weight, bias === null ? NONE : rowOf(bias, product.columns, analysis, editor)]
      const linear = { ...node, op: 'aten::linear', args }
      if (sum === null) editor.replaceNode(node, [linear])
      else {
        editor.replaceNode(node, [])
        editor.replaceNode(sum.node, [{ ...linear, results: sum.node.results }])
      }
    }
    return changed ? editor.finish() : graph
  },
}

/** A constant row, and what it is multiplied with. */
interface Bias {
  readonly row: ValueId
  readonly factor: number
}

interface Product {
  readonly input: Arg
  /** A layer's weight, or the number of a matrix [..., inputs, columns]. */
  readonly weight: Arg | ValueId
  /** What the product is multiplied with. */
  readonly alpha: number
  readonly columns: number
  readonly bias: Bias | null
}

/** Sums with a product of two matrices, or batches of them: the bias, both operands, and factors of the bias and the product. */
const WITH_BIAS = new Set(['aten::addmm', 'aten::baddbmm'])

/** A float32 product of dense rows with a constant matrix, the same one for all batches. */
function productOf(node: OperatorNode, analysis: Analysis): Product | null {
  const hasBias = WITH_BIAS.has(node.op)
  if (!hasBias && node.op !== 'aten::matmul') return null
  const [input, matrix] = node.args.slice(hasBias ? 1 : 0) as [Arg, Arg]
  const [x, m, result] = [valueArg(input), valueArg(matrix), onlyResult(node)]
  if (x === undefined || m === undefined || result === undefined || analysis.tensor(m) === undefined || !analysis.isPure(node)) return null
  const [a, b, out] = [analysis.type(x), analysis.type(m), analysis.type(result)]
  if ([a, b].some(({ dtype, shape }) => dtype !== DType.float32 || shape.length < 2 || shape.includes(0))) return null
  if (analysis.tensor(x) !== undefined || ![a, out].every(({ shape, strides }) => isContiguous(shape, strides))) return null
  const columns = b.shape.at(-1)!
  const isOne = b.shape.slice(0, -2).every((size, d) => size === 1 || b.strides[d] === 0)
  if (!isOne || !sameShape(out.shape, [...a.shape.slice(0, -1), columns])) return null
  const product = { input, weight: m, columns }
  if (!hasBias) return { ...product, alpha: 1, bias: null }
  const [row, beta, alpha] = [inputOf(node), numberArg(named(node, 'beta')), numberArg(named(node, 'alpha'))]
  if (row === undefined || beta === undefined || alpha === undefined) return null
  // what is multiplied by 0 is not looked at, NaN included
  if (beta === 0) return { ...product, alpha, bias: null }
  return isRow(row, columns, analysis) ? { ...product, alpha, bias: { row, factor: beta } } : null
}

/** Whether a linear layer would round a matrix that this product does not round, or multiplies first. */
function roundsOtherwise(matrix: ValueId, { alpha, bias }: Product, analysis: Analysis): boolean {
  const tensor = analysis.tensor(matrix)!
  return tensor.storage.rounding !== undefined && (alpha !== 1 || (bias?.factor ?? 1) !== 1 || !isRounded(tensor))
}

/** A linear layer to which a bias may be added. */
function layerWithoutBias(node: OperatorNode, analysis: Analysis): Product | null {
  const [input, weight, bias] = node.args
  const w = valueArg(weight)
  if (node.op !== 'aten::linear' || w === undefined || !isNone(bias) || onlyResult(node) === undefined || !analysis.isPure(node))
    return null
  const { dtype, shape } = analysis.type(w)
  return dtype === DType.float32 && shape.length === 2 ? { input: input!, weight: weight!, alpha: 1, columns: shape[0]!, bias: null } : null
}

/** A dense constant over the columns, the same one for all rows. */
function isRow(id: ValueId, columns: number, analysis: Analysis): boolean {
  const { dtype, shape, strides } = analysis.type(id)
  const isWhole = shape.at(-1) === columns && shape.slice(0, -1).every((size, d) => size === 1 || strides[d] === 0)
  return analysis.tensor(id) !== undefined && dtype === DType.float32 && isWhole && (columns === 1 || strides.at(-1) === 1)
}

/** The addition of a bias that is all that becomes of a product. */
function biasAfter(node: OperatorNode, columns: number, analysis: Analysis): (Bias & { node: OperatorNode }) | null {
  const result = onlyResult(node)!
  const next = analysis.onlyReader(result)
  if (next?.op !== 'aten::add.Tensor') return null
  const sum = onlyResult(next)
  const factor = numberArg(named(next, 'alpha'))
  if (sum === undefined || factor === undefined || !analysis.isPure(next)) return null
  const [first, second] = next.args.map(valueArg)
  const row = first === result ? second : first
  // the factor is that of the second operand
  if (row === undefined || row === result || (first !== result && factor !== 1) || !isRow(row, columns, analysis)) return null
  return sameShape(analysis.type(sum).shape, analysis.type(result).shape) ? { node: next, row, factor } : null
}

/** The bias as [columns], times its factor. */
function rowOf({ row, factor }: Bias, columns: number, analysis: Analysis, editor: Editor): Arg {
  const tensor = analysis.tensor(row)!
  if (factor === 1 && tensor.dim === 1) return value(row)
  const view = viewOf(tensor, [columns], [1])
  view.pinned = true
  if (factor === 1) return value(editor.addConstant(view, `${analysis.nameOf(row)}, as a row`))
  return value(editor.addConstant(times(view, factor), `${analysis.nameOf(row)} times ${factor}`))
}

/** The product of a tensor, which is released, and a number. */
function times(tensor: Tensor, factor: number): Tensor {
  const [scaled] = callOnce('aten::mul.Scalar', [tensor, new Float(factor)]) as [Tensor]
  tensor.release()
  return scaled
}

/** The constant [n, k] for a matrix [..., k, n]: the matrix under other strides, or transposed, times a number. */
function weightOf(matrix: ValueId, alpha: number, analysis: Analysis, editor: Editor): Arg | null {
  const tensor = analysis.tensor(matrix)!
  const { shape, strides } = analysis.type(matrix)
  const [k, n] = shape.slice(-2) as [number, number]
  const name = analysis.nameOf(matrix)
  const turned = viewOf(tensor, [n, k], [strides.at(-1)!, strides.at(-2)!])
  turned.pinned = true
  const isDense = isContiguous(turned.shape, turned.strides)
  if (isDense && alpha === 1) {
    const whole = analysis.graph.constants.find((c) => c.tensor.storage === tensor.storage && sameLayout(c.tensor, turned))
    if (whole === undefined) return value(editor.addConstant(turned, `${name}, transposed`))
    turned.release()
    return value(whole.id)
  }
  if (4 * n * k > MAX_TRANSPOSED_BYTES) {
    turned.release()
    return null
  }
  if (alpha !== 1) return value(editor.addConstant(denseOf(times(turned, alpha)), `${name} times ${alpha}`))
  return value(editor.addConstant(denseOf(turned), `${name}, transposed`))
}

/** A dense tensor with these elements in place of one that is released if it is not. */
function denseOf(tensor: Tensor): Tensor {
  if (isContiguous(tensor.shape, tensor.strides)) return tensor
  const [dense] = callOnce('aten::contiguous', [tensor, 0]) as [Tensor]
  dense.storage.rounding = tensor.storage.rounding
  tensor.release()
  return dense
}
