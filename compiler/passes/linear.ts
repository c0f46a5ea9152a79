import { DType } from '../../runtime/tensor/dtype.js'
import { isContiguous, sameShape } from '../../runtime/tensor/shape.js'
import { type Tensor, viewOf } from '../../runtime/tensor/tensor.js'
import { callOnce } from '../graph/evaluate.js'
import { type Arg, type GraphNode, NONE, value } from '../graph/graph.js'
import { Analysis, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import type { Pass } from './pass.js'

/** Weights up to this size are transposed; larger ones stay as they are rather than take their memory twice. */
const MAX_TRANSPOSED_BYTES = 16 << 20

/**
 * Makes products with a constant matrix into linear layers, whose weights are packed once, with the bias that is added to them.
 * The permutation of the weight disappears with it.
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
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const product = productOf(node, analysis)
      if (product === null) continue
      const weight = weightOf(product.matrix, analysis, editor)
      if (weight === null) continue
      changed = true
      const sum = product.bias === null ? biasAfter(node, product.columns, analysis) : null
      const linear = { ...node, op: 'aten::linear', args: [product.input, weight, sum?.bias ?? product.bias ?? NONE] }
      if (sum === null) editor.replaceNode(node, [linear])
      else {
        editor.replaceNode(node, [])
        editor.replaceNode(sum.node, [{ ...linear, results: sum.node.results }])
      }
    }
    return changed ? editor.finish() : graph
  },
}

interface Product {
  readonly input: Arg
  readonly matrix: number
  readonly columns: number
  readonly bias: Arg | null
}

/** A float32 product of dense rows with a constant matrix. */
function productOf(node: GraphNode, analysis: Analysis): Product | null {
  const addmm = node.op === 'aten::addmm'
  if (!addmm && node.op !== 'aten::mm' && node.op !== 'aten::matmul') return null
  const [input, matrix] = node.args.slice(addmm ? 1 : 0) as [Arg, Arg]
  const x = valueArg(input)
  const m = valueArg(matrix)
  const result = onlyResult(node)
  if (x === undefined || m === undefined || result === undefined || analysis.tensor(m) === undefined || !analysis.isPure(node)) return null
  const [a, b] = [analysis.type(x), analysis.type(m)]
  if (a.dtype !== DType.float32 || b.dtype !== DType.float32 || b.shape.length !== 2 || a.shape.length < 2) return null
  if (analysis.tensor(x) !== undefined || !isContiguous(a.shape, a.strides) || a.shape.includes(0) || b.shape.includes(0)) return null
  const { shape, strides } = analysis.type(result)
  if (!isContiguous(shape, strides)) return null
  const columns = b.shape[1]!
  if (!addmm) return { input, matrix: m, columns, bias: null }
  const bias = valueArg(node.args[0])
  if (bias === undefined || !isRow(bias, columns, analysis) || numberArg(node.args[3]) !== 1 || numberArg(node.args[4]) !== 1) return null
  return { input, matrix: m, columns, bias: node.args[0]! }
}

/** A constant vector over the columns. */
function isRow(id: number, columns: number, analysis: Analysis): boolean {
  const { dtype, shape, strides } = analysis.type(id)
  return analysis.tensor(id) !== undefined && dtype === DType.float32 && sameShape(shape, [columns]) && isContiguous(shape, strides)
}

/** The addition of a bias that is all that becomes of a product. */
function biasAfter(node: GraphNode, columns: number, analysis: Analysis): { node: GraphNode; bias: Arg } | null {
  const result = onlyResult(node)!
  const next = analysis.onlyReader(result)
  if (next?.op !== 'aten::add.Tensor' || numberArg(next.args[2]) !== 1 || onlyResult(next) === undefined || !analysis.isPure(next))
    return null
  const bias = next.args.slice(0, 2).find((arg) => valueArg(arg) !== result)
  const id = valueArg(bias)
  return id !== undefined && isRow(id, columns, analysis) ? { node: next, bias: bias! } : null
}

/** The constant [n, k] for a matrix [k, n]: the matrix under other strides, or transposed. */
function weightOf(matrix: number, analysis: Analysis, editor: Editor): Arg | null {
  const tensor = analysis.tensor(matrix)!
  const { shape, strides } = analysis.type(matrix)
  const [k, n] = shape as [number, number]
  const { name } = analysis.graph.constants.find((c) => c.id === matrix)!
  const turned = viewOf(tensor, [n, k], [strides[1]!, strides[0]!])
  turned.pinned = true
  if (isContiguous(turned.shape, turned.strides)) {
    const whole = analysis.graph.constants.find((c) => c.tensor.storage === tensor.storage && sameLayout(c.tensor, turned))
    if (whole === undefined) return value(editor.addConstant(turned, `${name}, transposed`))
    turned.release()
    return value(whole.id)
  }
  if (4 * n * k > MAX_TRANSPOSED_BYTES) {
    turned.release()
    return null
  }
  const [dense] = callOnce('aten::contiguous', [turned, 0]) as [Tensor]
  turned.release()
  return value(editor.addConstant(dense, `${name}, transposed`))
}

function sameLayout(a: Tensor, b: Tensor): boolean {
  return a.offset === b.offset && sameShape(a.shape, b.shape) && sameShape(a.strides, b.strides)
}
