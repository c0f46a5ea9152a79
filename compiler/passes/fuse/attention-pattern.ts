import { DType } from '../../../runtime/tensor/dtype.js'
import { isHalf } from '../../../runtime/tensor/half.js'
import { isContiguous, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import { type Arg, type OperatorNode, NONE, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, inputArg, inputOf, isNone, numberArg, onlyResult, valueArg } from '../analysis.js'
import { anyOf, axis, call, given, matchOf, named as bound, type Pattern } from '../canonical/pattern.js'
import { madeBy, productOf, settledMaker, sumOf } from '../expression.js'

/** Attention as a program computes it. */
export interface Attention {
  readonly query: ValueId
  /** [..., keys, depth], or with `turned` [..., depth, keys] */
  readonly key: ValueId
  readonly turned: boolean
  readonly value: ValueId
  readonly mask: Arg
  /** The mask has truth values, true where a score becomes -inf. */
  readonly filled: boolean
  readonly scale: number
  readonly causal: boolean
  readonly safe: boolean
}

const OPERATOR = 'aten::scaled_dot_product_attention'

/** The attention that a node ends, by the operator or spelled out; null where the kernel does not compute it. */
export function attentionOf(node: OperatorNode, analysis: Analysis): Attention | null {
  const result = onlyResult(node)
  if (result === undefined || !analysis.canBeLater(node)) return null
  const found = node.op === OPERATOR ? operatorAttention(node, analysis) : spelledAttention(node, result, analysis)
  return found !== null && fits(found, node, result, analysis) ? found : null
}

function operatorAttention({ args }: OperatorNode, analysis: Analysis): Attention | null {
  const [query, key, values] = args.map(valueArg)
  const [mask, dropout, causal, given] = args.slice(3) as [Arg, Arg, Arg, Arg]
  if (query === undefined || key === undefined || values === undefined || numberArg(dropout) !== 0) return null
  if (causal.kind !== 'constant') return null
  const scale = isNone(given) ? 1 / Math.sqrt(analysis.type(query).shape.at(-1) ?? 1) : numberArg(given)
  if (scale === undefined) return null
  return { query, key, turned: false, value: values, mask, filled: false, scale, causal: causal.value === true, safe: true }
}

function spelledAttention(node: OperatorNode, result: ValueId, analysis: Analysis): Attention | null {
  const product = matrixProduct(node, result, analysis)
  // the product in three dimensions goes
  if (product === null || (node.op === 'aten::reshape' && analysis.onlyReader(inputOf(node)!) !== node)) return null
  const [left, values] = product
  const guarded = guardedSoftmax(left, analysis)
  const weights = madeBy(value(guarded ?? left), analysis)
  if (weights?.op !== 'aten::softmax.int' || !isNone(named(weights, 'dtype'))) return null
  const rank = analysis.type(result).shape.length
  const dim = numberArg(named(weights, 'dim'))
  if (dim !== -1 && dim !== rank - 1) return null
  const scores = scoresOf(inputArg(weights), analysis)
  if (scores === null) return null
  const { keys, ...others } = scores
  return { ...others, key: keys, turned: true, value: values, causal: false, safe: guarded !== null }
}

const anyValue: Pattern = () => true
const not = (of: Pattern): Pattern => call('aten::logical_not', of)

/** Softmax whose rows are 0 where all scores are -inf, as `scaled_dot_product_attention` is decomposed. */
const GUARDED = call(
  'aten::where.self',
  not(call('aten::any.dim', not(call('aten::eq.Scalar', bound('scores'), given(-Infinity))), axis('dim', 'scores'), given(true))),
  anyOf(call('aten::full_like', anyValue, given(0)), call('aten::zeros_like', anyValue)),
  bound('weights', call('aten::softmax.int', bound('scores'), axis('dim', 'scores'))),
)

/** The softmax that rows without a key are left out of; null where there is no such thing. */
function guardedSoftmax(id: ValueId, analysis: Analysis): ValueId | null {
  const made = analysis.producer(id)
  const match = made === undefined ? null : matchOf(made, GUARDED, analysis)
  if (match === null) return null
  const weights = match.value('weights')
  return sameShape(analysis.type(id).shape, analysis.type(weights).shape) ? weights : null
}

/**
 * The operands of a product of matrices, in as many dimensions as the result has. Decomposed programs multiply in three dimensions:
 *
 *     %2: [2 * 4, 6, 8] = aten::reshape(%0, [8, 6, 8])         %0: [2, 4, 6, 8]
 *     %3: [2 * 4, 8, 5] = aten::reshape(%1, [8, 8, 5])         %1: [2, 4, 8, 5]
 *     %4: [2 * 4, 6, 5] = aten::matmul(%2, %3)
 *     %5: [2, 4, 6, 5] = aten::reshape(%4, [2, 4, 6, 5])
 */
function matrixProduct(node: OperatorNode | undefined, result: ValueId, analysis: Analysis): readonly [ValueId, ValueId] | null {
  if (node?.op === 'aten::matmul') {
    const [left, right] = node.args.map(valueArg)
    return left === undefined || right === undefined ? null : [left, right]
  }
  const product = node?.op === 'aten::reshape' ? madeBy(inputArg(node), analysis) : undefined
  if (product?.op !== 'aten::matmul') return null
  const { shape } = analysis.type(result)
  const lead = shape.slice(0, -2)
  if (!sameShape(analysis.type(onlyResult(product)!).shape, [numelOf(lead), ...shape.slice(-2)])) return null
  const [left, right] = product.args.map((operand) => unmerged(operand, lead, analysis))
  return left === undefined || right === undefined ? null : [left, right]
}

/** What an operand was before it was copied and its batches, `lead`, became one dimension. */
function unmerged(operand: Arg, lead: readonly number[], analysis: Analysis): ValueId | undefined {
  const merging = madeBy(operand, analysis)
  const merged = valueArg(operand)
  let before = merging?.op === 'aten::reshape' ? inputOf(merging) : undefined
  if (before === undefined || merged === undefined) return undefined
  const { shape } = analysis.type(merged)
  if (shape.length !== 3 || !sameShape(analysis.type(before).shape, [...lead, ...shape.slice(-2)])) return undefined
  for (let made = madeBy(value(before), analysis); made?.op === 'aten::contiguous'; made = madeBy(value(before), analysis))
    before = inputOf(made)!
  return before
}

interface Scores {
  readonly query: ValueId
  /** [..., depth, keys] */
  readonly keys: ValueId
  readonly mask: Arg
  readonly filled: boolean
  readonly scale: number
}

/** query keys^T, scaled, and with a mask added. */
function scoresOf(arg: Arg, analysis: Analysis): Scores | null {
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
  if (made?.op === 'aten::masked_fill.Scalar' && numberArg(named(made, 'value')) === -Infinity) {
    const found = inputOf(made) === undefined ? null : scaledProduct(inputArg(made), analysis)
    return found === null ? null : { ...found, mask: named(made, 'mask'), filled: true }
  }
  const sum = sumOf(arg, analysis)
  if (sum === null) return null
  for (const [product, mask] of [sum, [sum[1], sum[0]]] as const) {
    const found = valueArg(product) === undefined || valueArg(mask) === undefined ? null : scaledProduct(product, analysis)
    if (found !== null) return { ...found, mask, filled: false }
  }
  return null
}

/** The product of queries and keys, all of whose factors, which may be those of the operands, are its scale. */
function scaledProduct(arg: Arg, analysis: Analysis): { query: ValueId; keys: ValueId; scale: number } | null {
  const { scale, factors } = productOf(arg, analysis)
  const made = factors.length === 1 ? settledMaker(value(factors[0]!), analysis) : undefined
  const product = matrixProduct(made, factors[0]!, analysis)
  if (product === null) return null
  const [query, keys] = product.map((operand) => {
    const scaled = productOf(value(operand), analysis)
    return scaled.factors.length === 1 ? { of: scaled.factors[0]!, by: scaled.scale } : { of: operand, by: 1 }
  })
  return { query: query!.of, keys: keys!.of, scale: scale * query!.by * keys!.by }
}

function fits(
  { query, key, turned, value: values, mask, filled }: Attention,
  node: OperatorNode,
  result: ValueId,
  analysis: Analysis,
): boolean {
  const [q, k, v, out] = [query, key, values, result].map((id) => analysis.type(id)) as [TensorType, TensorType, TensorType, TensorType]
  const rank = q.shape.length
  // spelled out, numbers of 16 bits are rounded at every step
  if (q.dtype !== DType.float32 && (node.op !== OPERATOR || !isHalf(q.dtype))) return false
  if ([q, k, v, out].some((t) => t.dtype !== q.dtype || t.shape.length !== rank || numelOf(t.shape) === 0)) return false
  if (rank < 3 || rank > 4 || !isContiguous(out.shape, out.strides)) return false
  const [lead, keyLead, valueLead] = [q, k, v].map((t) => t.shape.slice(0, -2)) as [number[], number[], number[]]
  const keys = turned ? k.shape.at(-1)! : k.shape.at(-2)!
  const depth = turned ? k.shape.at(-2)! : k.shape.at(-1)!
  if (!sameShape(keyLead, valueLead) || v.shape.at(-2) !== keys || q.shape.at(-1) !== depth) return false
  if (!sameShape(lead.slice(0, -1), keyLead.slice(0, -1)) || lead.at(-1)! % keyLead.at(-1)! !== 0) return false
  const added = valueArg(mask)
  if (added === undefined) return true
  const { dtype, shape } = analysis.type(added)
  const scores = [...lead, q.shape.at(-2)!, keys]
  return (
    (dtype === DType.bool || (dtype === DType.float32 && !filled)) &&
    shape.length <= rank &&
    shape.every((size, d) => size === 1 || size === scores[rank - shape.length + d]) &&
    analysis.isSettled(added, node)
  )
}
