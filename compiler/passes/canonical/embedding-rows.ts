import { DType } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides, isContiguous, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { named } from '../../graph/arguments.js'
import {
  type Arg,
  constant,
  denseType,
  type GraphNode,
  NONE,
  type OperatorNode,
  type TensorType,
  value,
  type ValueId,
} from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf, integersArg, isNone, onlyResult, operatorsOf, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { madeBy } from '../expression.js'
import type { Pass } from '../pass.js'
import { shownBy } from './rounded.js'
import { areBytes, floatsOfSteps, numbersOf } from './row-steps.js'

/**
 * Looks rows of integers up before they become floats, in place of making floats of a whole table, as torchao leaves it: with their scales and zero points. The same bits.
 *
 *     %4 = torchao::dequantize_affine(%table, [1, 32], %scales, %zeros, ...)       %6 = aten::embedding(%table, %ids, ...)
 *     %5 = aten::embedding(%4, %ids, ...)                                     →    %7 = aten::embedding(%scales, %ids, ...)
 *                                                                                  %8 = aten::embedding(%zeros, %ids, ...)
 *                                                                                  %5 = torchao::dequantize_affine(%6, [1, 1, 32], %7, %8, ...)
 */
export const embeddingRows: Pass = {
  name: 'embeddings of integers',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of operatorsOf(graph)) {
      const table = tableOf(node, analysis)
      if (table === null) continue
      editor.replaceNode(node, rowsOf(node, table, analysis, editor))
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** What makes floats of a constant table [n, k] of integers, in groups of a row. */
interface Table {
  readonly integers: ValueId
  readonly scales: ValueId
  /** Null for none. */
  readonly zeros: ValueId | null
  readonly group: number
  /** What torchao's operator takes behind them. */
  readonly rest: readonly Arg[]
}

function tableOf(node: OperatorNode, analysis: Analysis): Table | null {
  const indices = valueArg(node.args[1])
  if (node.op !== 'aten::embedding' || indices === undefined || onlyResult(node) === undefined || !analysis.isPure(node)) return null
  const table = valueArg(node.args[0])
  const found = table === undefined ? null : (ofOperator(madeBy(node.args[0], analysis), analysis) ?? ofSteps(table, analysis))
  if (found === null || analysis.type(indices).shape.includes(0)) return null
  const { integers, scales, zeros, group } = found
  const { dtype, shape } = analysis.type(integers)
  if (dtype !== DType.int8 || shape.length !== 2 || shape.includes(0) || group < 2 || shape[1]! % group !== 0) return null
  const count = (shape[0]! * shape[1]!) / group
  const fits = (id: ValueId): boolean => {
    const type = analysis.type(id)
    return analysis.tensor(id) !== undefined && numelOf(type.shape) === count && isContiguous(type.shape, type.strides)
  }
  return analysis.tensor(integers) !== undefined && fits(scales) && (zeros === null || fits(zeros)) ? found : null
}

function ofOperator(node: OperatorNode | undefined, analysis: Analysis): Table | null {
  if (node?.op !== 'torchao::dequantize_affine' || !analysis.isPure(node)) return null
  const [integers, scales] = [inputOf(node), valueArg(named(node, 'scale'))]
  const zeros = isNone(named(node, 'zero_point')) ? null : valueArg(named(node, 'zero_point'))
  const block = integersArg(named(node, 'block_size'))
  if (integers === undefined || scales === undefined || zeros === undefined || block?.length !== 2 || block[0] !== 1) return null
  return { integers, scales, zeros, group: block[1]!, rest: node.args.slice(4) }
}

/** The same step by step. */
function ofSteps(id: ValueId, analysis: Analysis): Table | null {
  const floats = floatsOfSteps(id, analysis)
  if (floats === null) return null
  const { scales, zeros, width: group } = floats
  const integers = shownBy(floats.bytes, analysis)
  if (!sameShape(analysis.type(integers).shape, analysis.type(id).shape)) return null
  // the dtypes that steps convert others to may not hold them
  const points = zeros === null ? undefined : analysis.tensor(zeros)
  if (zeros !== null && (points === undefined || !areBytes(numbersOf(points)))) return null
  return { integers, scales, zeros, group, rest: [constant(DType.int8), NONE, NONE, constant(analysis.type(id).dtype), constant('INT')] }
}

function rowsOf(node: OperatorNode, { integers, scales, zeros, group, rest }: Table, analysis: Analysis, editor: Editor): GraphNode[] {
  const [n, k] = analysis.type(integers).shape as [number, number]
  const { shape: sizes } = analysis.type(valueArg(node.args[1])!)
  const made: GraphNode[] = []
  const add = (op: string, args: OperatorNode['args'], type: TensorType, storage?: number): ValueId => {
    const id = editor.newValue(type, storage)
    made.push({ ...baseOf(node), kind: 'operator', op, args, results: [{ kind: 'value', id }] })
    return id
  }
  const lookedUp = (id: ValueId, columns: number): ValueId => {
    const type = analysis.type(id)
    const rows = [n, columns]
    const isMatrix = type.shape.length === 2 && type.shape[1] === columns
    const table = isMatrix
      ? id
      : add('aten::reshape', [value(id), constant(rows)], { ...type, shape: rows, strides: contiguousStrides(rows) }, analysis.storage(id))
    return add('aten::embedding', [value(table), ...node.args.slice(1)], denseType(type.dtype, [...sizes, columns]))
  }
  const groups = k / group
  const [rows, ofScales, ofZeros] = [lookedUp(integers, k), lookedUp(scales, groups), zeros === null ? null : lookedUp(zeros, groups)]
  const block = constant([...sizes.map(() => 1), group])
  const args = [value(rows), block, value(ofScales), ofZeros === null ? NONE : value(ofZeros), ...rest]
  return [...made, { ...node, op: 'torchao::dequantize_affine', args }]
}
