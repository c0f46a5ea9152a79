import { sameShape } from '../../../runtime/tensor/shape.js'
import { type Arg, constant, type GraphNode, NONE, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { exchangeOf } from '../canonical/shapes.js'
import { filledMask, maskForm, truthsOf } from './attention-mask.js'
import { type Attention, attentionOf } from './attention-pattern.js'
import { copyOfRows, isCopying, writeRowsFirst } from './attention-rows.js'
import { Editor } from '../editor.js'
import { settledMaker } from '../expression.js'
import type { Pass } from '../pass.js'

/**
 * Recognises scaled dot-product attention, whose kernel holds the scores of a few rows at a time.
 *
 *     %3 = aten::matmul(%query, %keyT)
 *     %4 = aten::mul.Scalar(%3, 0.125)
 *     %5 = aten::add.Tensor(%4, %mask, 1)
 *     %6 = aten::softmax.int(%5, -1, None)            %8 = aten::permute(%keyT, [0, 1, 3, 2])
 *     %7 = aten::matmul(%6, %value)             →     %7 = attention(query=%query, key=%8, value=%value, mask=%mask, scale=0.125)
 *
 * and `aten::scaled_dot_product_attention`, of which a row that sees no key is 0: as one operator, and as PyTorch decomposes it, with products in three
 * dimensions.
 *
 * Instead of adding a mask the program may fill scores where a mask of truth values has ones with -inf, which finite scores become too by
 * adding it:
 *
 *     %5 = aten::masked_fill.Scalar(%4, %mask, -inf)   →   %9 = aten::masked_fill.Scalar(%zeros, %mask, -inf)
 *
 * A mask that was made of truth values, 0 where they are true and -inf elsewhere, gives way to these, by which the kernel leaves out keys that no row sees.
 *
 * Heads of keys and values that were copied for several heads of queries are read where they were, a constant mask that hides what comes later
 * becomes the causal form, one that hides nothing goes. Where all that follows is a transposition of heads and rows that is then copied, the
 * kernel writes its rows in that order (`rowsFirst`), and the copy becomes a view.
 */
export const attention: Pass = {
  name: 'attention',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const found = attentionOf(node, analysis)
      if (found === null) continue
      replace(node, found, analysis, editor)
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** Keys and values as they are. */
const PLAIN = { keyScales: null, valueScales: null } as const

function replace(node: OperatorNode, found: Attention, analysis: Analysis, editor: Editor): void {
  const result = onlyResult(node)!
  const rowsFirst = copyOfRows(result, analysis)
  const rank = analysis.type(result).shape.length
  const before: GraphNode[] = []
  const base = baseOf(node)
  const viewed = (id: ValueId, op: string, args: readonly Arg[], change: (type: TensorType) => TensorType): ValueId => {
    const type = editor.typeOf(id)
    const view = editor.newValue(change(type), editor.storageOf(id))
    before.push({ ...base, kind: 'operator', op, args: [value(id), ...args], results: [{ kind: 'value', id: view }], writes: [] })
    return view
  }
  let { key, value: values } = found
  if (found.turned)
    key = turnedBack(key, analysis) ?? viewed(key, 'aten::permute', [constant(exchangeOf(rank - 2, rank - 1, rank))], exchanged)
  const shared = [key, values].map((id) => sharedHeads(id, analysis))
  if (shared.every((id) => id !== null)) {
    const one = [constant(2), constant(0)]
    ;[key, values] = shared.map((id) => viewed(id, 'aten::select.int', one, firstOfThird)) as [ValueId, ValueId]
  }
  const rows = analysis.type(found.query).shape.at(-2)!
  const form = found.filled ? 'any' : maskForm(found.mask, rows, analysis)
  let mask = found.mask
  if (form !== 'any') mask = NONE
  else if (found.filled) {
    const filled = filledMask(node, valueArg(mask)!, analysis, editor)
    before.push(filled)
    mask = value(onlyResult(filled)!)
  } else if (found.safe) mask = truthsOf(mask, analysis) ?? mask
  if (node.op === 'aten::reshape') editor.replaceNode(analysis.producer(inputOf(node)!)!, [])
  const causal = found.causal || form === 'causal'
  const { query, scale, safe } = found
  const operands = { query, key, value: values, mask: valueArg(mask) ?? null }
  editor.replaceNode(node, [
    ...before,
    { ...base, kind: 'attention', ...operands, scale, causal, safe, rowsFirst: rowsFirst !== null, ...PLAIN },
  ])
  if (rowsFirst !== null) writeRowsFirst(result, rowsFirst, analysis, editor)
}

function exchanged(type: TensorType): TensorType {
  const turn = (list: readonly number[]): number[] => [...list.slice(0, -2), list.at(-1)!, list.at(-2)!]
  return { ...type, shape: turn(type.shape), strides: turn(type.strides) }
}

/** What a transposition of the last two dimensions shows. */
function turnedBack(id: ValueId, analysis: Analysis): ValueId | null {
  const made = settledMaker(value(id), analysis)
  const before = inputOf(made)
  if (made?.op !== 'aten::permute' || before === undefined) return null
  const expected = exchanged(analysis.type(before))
  const { shape, strides, offset } = analysis.type(id)
  return sameShape(shape, expected.shape) && sameShape(strides, expected.strides) && offset === expected.offset ? before : null
}

const firstOfThird = (type: TensorType): TensorType => ({
  ...type,
  shape: type.shape.toSpliced(2, 1),
  strides: type.strides.toSpliced(2, 1),
})

/** [batch, heads, copies, rows, columns] with stride 0 for the copies, of which [batch, heads * copies, rows, columns] was made. */
function sharedHeads(id: ValueId, analysis: Analysis): ValueId | null {
  const made = settledMaker(value(id), analysis)
  const before = made === undefined || !isCopying(made) ? undefined : inputOf(made)
  if (before === undefined) return null
  const { shape, strides } = analysis.type(before)
  const [batch, heads, copies, rows, columns] = shape
  if (shape.length !== 5 || strides[2] !== 0) return null
  return sameShape(analysis.type(id).shape, [batch!, heads! * copies!, rows!, columns!]) ? before : null
}
