import { rowsFirstStrides } from '../../runtime/backends/cpu/support/attention-layout.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { contiguousStrides, isContiguous, numelOf, sameShape } from '../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, NONE, type TensorType, value, type ValueId } from '../graph/graph.js'
import { constantOf } from '../graph/shared-constants.js'
import { Analysis, isNone, numberArg, onlyResult, valueArg } from './analysis.js'
import { Editor } from './editor.js'
import { madeBy, productOf, sumOf } from './expression.js'
import type { Pass } from './pass.js'

/**
 * Recognises scaled dot-product attention, whose kernel holds the scores of a few rows at a time.
 *
 *     %3 = aten::matmul(%query, %keyT)
 *     %4 = aten::mul.Scalar(%3, 0.125)
 *     %5 = aten::add.Tensor(%4, %mask, 1)
 *     %6 = aten::softmax.int(%5, -1, None)            %8 = aten::transpose.int(%keyT, -2, -1)
 *     %7 = aten::matmul(%6, %value)             →     %7 = ptlite::attention(%query, %8, %value, %mask, 0.125, False)
 *
 * Instead of adding a mask the program may fill scores where a mask of truth values has ones with -inf, which finite scores become too by
 * adding it:
 *
 *     %5 = aten::masked_fill.Scalar(%4, %mask, -inf)   →   %9 = aten::masked_fill.Scalar(%zeros, %mask, -inf)
 *
 * Where all that follows is a transposition of heads and rows that is then copied, the kernel writes its rows in that order (`True`),
 * and the copy becomes a view.
 */
export const attention: Pass = {
  name: 'attention',
  run(graph) {
    const analysis = new Analysis(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      const found = attentionOf(node, analysis)
      if (found === null) continue
      replace(node, found, analysis, editor)
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

interface Attention {
  readonly query: ValueId
  /** [..., depth, keys] */
  readonly keys: ValueId
  readonly value: ValueId
  readonly mask: Arg
  /** The mask has truth values, true where a score becomes -inf. */
  readonly filled: boolean
  readonly scale: number
}

const PRODUCTS = new Set(['aten::matmul', 'aten::bmm'])

function attentionOf(node: GraphNode, analysis: Analysis): Attention | null {
  const result = onlyResult(node)
  if (!PRODUCTS.has(node.op) || result === undefined || !analysis.isPure(node)) return null
  const weights = madeBy(node.args[0], analysis)
  const values = valueArg(node.args[1])
  if (weights?.op !== 'aten::softmax.int' || !isNone(weights.args[2]) || values === undefined) return null
  const rank = analysis.type(result).shape.length
  const dim = numberArg(weights.args[1])
  if (dim !== -1 && dim !== rank - 1) return null
  const scores = scoresOf(weights.args[0]!, analysis)
  if (scores === null) return null
  const found = { ...scores, value: values }
  return fits(found, result, analysis) ? found : null
}

/** query keys^T, scaled, and with a mask added. */
function scoresOf(arg: Arg, analysis: Analysis): Omit<Attention, 'value'> | null {
  const made = madeBy(arg, analysis)
  if (made?.op === 'aten::baddbmm') {
    const [mask, a, b, beta, alpha] = made.args as [Arg, Arg, Arg, Arg, Arg]
    const scale = numberArg(alpha)
    const [query, keys] = [valueArg(a), valueArg(b)]
    if (numberArg(beta) !== 1 || scale === undefined || query === undefined || keys === undefined) return null
    return { query, keys, mask, filled: false, scale }
  }
  const plain = scaledProduct(arg, analysis)
  if (plain !== null) return { ...plain, mask: NONE, filled: false }
  if (made?.op === 'aten::masked_fill.Scalar' && numberArg(made.args[2]) === -Infinity) {
    const found = valueArg(made.args[0]) === undefined ? null : scaledProduct(made.args[0]!, analysis)
    return found === null ? null : { ...found, mask: made.args[1]!, filled: true }
  }
  const sum = sumOf(arg, analysis)
  if (sum === null) return null
  for (const [product, mask] of [sum, [sum[1], sum[0]]] as const) {
    const found = valueArg(product) === undefined || valueArg(mask) === undefined ? null : scaledProduct(product, analysis)
    if (found !== null) return { ...found, mask, filled: false }
  }
  return null
}

function scaledProduct(arg: Arg, analysis: Analysis): { query: ValueId; keys: ValueId; scale: number } | null {
  const { scale, factors } = productOf(arg, analysis)
  const product = factors.length === 1 ? madeBy(value(factors[0]!), analysis) : undefined
  if (product === undefined || !PRODUCTS.has(product.op)) return null
  const [query, keys] = [valueArg(product.args[0]), valueArg(product.args[1])]
  return query === undefined || keys === undefined ? null : { query, keys, scale }
}

function fits({ query, keys, value: values, mask, filled }: Attention, result: ValueId, analysis: Analysis): boolean {
  const [q, k, v, out] = [query, keys, values, result].map((id) => analysis.type(id)) as [TensorType, TensorType, TensorType, TensorType]
  const rank = q.shape.length
  if ([q, k, v, out].some((t) => t.dtype !== DType.float32 || t.shape.length !== rank || numelOf(t.shape) === 0)) return false
  if (rank < 3 || rank > 4 || !isContiguous(out.shape, out.strides)) return false
  const lead = q.shape.slice(0, -2)
  if (![k, v].every((t) => sameShape(t.shape.slice(0, -2), lead)) || v.shape.at(-2) !== k.shape.at(-1)) return false
  const added = valueArg(mask)
  if (added === undefined) return true
  const { dtype, shape } = analysis.type(added)
  const scores = [...lead, q.shape.at(-2)!, k.shape.at(-1)!]
  return (
    dtype === (filled ? DType.bool : DType.float32) &&
    shape.length <= rank &&
    shape.every((size, d) => size === 1 || size === scores[rank - shape.length + d]) &&
    analysis.isSteady(added)
  )
}

function replace(node: GraphNode, found: Attention, analysis: Analysis, editor: Editor): void {
  const type = analysis.type(found.keys)
  const turn = (list: readonly number[]): number[] => [...list.slice(0, -2), list.at(-1)!, list.at(-2)!]
  const keys = editor.newValue({ ...type, shape: turn(type.shape), strides: turn(type.strides) }, analysis.storage(found.keys))
  const result = onlyResult(node)!
  const rowsFirst = copyOfRows(result, analysis)
  const mask = found.filled ? filledMask(node, valueArg(found.mask)!, analysis, editor) : null
  editor.replaceNode(node, [
    ...(mask === null ? [] : [mask]),
    {
      ...node,
      op: 'aten::transpose.int',
      args: [value(found.keys), constant(-2), constant(-1)],
      results: [{ kind: 'value', id: keys }],
    },
    {
      ...node,
      op: 'ptlite::attention',
      args: [
        value(found.query),
        value(keys),
        value(found.value),
        mask === null ? found.mask : value(onlyResult(mask)!),
        constant(new Float(found.scale)),
        constant(rowsFirst !== null),
      ],
    },
  ])
  if (rowsFirst !== null) writeRowsFirst(result, rowsFirst, analysis, editor)
}

/** Zeros, and -inf where a mask is true. */
function filledMask({ origin }: GraphNode, mask: ValueId, analysis: Analysis, editor: Editor): GraphNode {
  const { shape } = analysis.type(mask)
  const zeros = editor.addConstant(constantOf(new Float32Array(numelOf(shape)), shape), 'zeros')
  const id = editor.newValue({ dtype: DType.float32, shape, strides: contiguousStrides(shape), offset: 0, quant: null })
  const args = [value(zeros), value(mask), constant(new Float(-Infinity))]
  return { op: 'aten::masked_fill.Scalar', args, results: [{ kind: 'value', id }], writes: [], origin }
}

interface RowsCopied {
  /** The result with heads and rows exchanged. */
  readonly transposed: ValueId
  /** Dense copies of that, under any shape. */
  readonly copies: readonly GraphNode[]
}

const COPYING = new Set(['aten::reshape', 'aten::contiguous', 'aten::clone'])

/** The transposition that is all that becomes of a result, if nothing but copies reads it. */
function copyOfRows(result: ValueId, analysis: Analysis): RowsCopied | null {
  const exchange = analysis.onlyReader(result)
  const rank = analysis.type(result).shape.length
  const transposed = exchange === undefined ? undefined : onlyResult(exchange)
  if (exchange === undefined || transposed === undefined || !analysis.isPure(exchange) || analysis.isReturned(transposed)) return null
  if (analysis.storage(transposed) !== analysis.storage(result) || analysis.outputs.has(analysis.storage(result))) return null
  const { shape } = analysis.type(result)
  const expected = [...shape.slice(0, rank - 3), shape[rank - 2]!, shape[rank - 3]!, shape[rank - 1]!]
  const strides = contiguousStrides(shape)
  const exchanged = [...strides.slice(0, rank - 3), strides[rank - 2]!, strides[rank - 3]!, strides[rank - 1]!]
  const { shape: found, strides: foundStrides } = analysis.type(transposed)
  if (!sameShape(found, expected) || !sameShape(foundStrides, exchanged)) return null
  const copies = analysis.readersOf(transposed)
  return copies.length > 0 && copies.every((copy) => isCopy(copy, transposed, analysis)) ? { transposed, copies } : null
}

/** True for a dense copy, or a view where there is nothing to copy, that can be read where it is. */
function isCopy(node: GraphNode, of: ValueId, analysis: Analysis): boolean {
  const id = onlyResult(node)
  if (!COPYING.has(node.op) || id === undefined || valueArg(node.args[0]) !== of || !analysis.isPure(node)) return false
  const { shape, strides, offset } = analysis.type(id)
  return isContiguous(shape, strides) && offset === 0 && !analysis.outputs.has(analysis.storage(id))
}

/** Gives the result its new layout. What was copied from it is a view of it now, and with it all views of the copy. */
function writeRowsFirst(result: ValueId, { transposed, copies }: RowsCopied, analysis: Analysis, editor: Editor): void {
  const { shape } = analysis.type(result)
  const storage = analysis.storage(result)
  const strides = rowsFirstStrides(shape.slice(0, -2), shape.at(-2)!, shape.at(-1)!)
  editor.setType(result, { ...analysis.type(result), strides }, storage)
  const type = analysis.type(transposed)
  editor.setType(transposed, { ...type, strides: contiguousStrides(type.shape) }, storage)
  for (const copy of copies) {
    const id = onlyResult(copy)!
    const moved = analysis.storage(id)
    for (const other of analysis.graph.values.values()) {
      if (other.storage === moved && moved !== storage) editor.setType(other.id, other.type, storage)
    }
    if (copy.op === 'aten::reshape') continue
    editor.replaceValue(id, transposed)
    editor.replaceNode(copy, [])
  }
}
