import { writeTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { empty, isPerChannel } from '../../../runtime/tensor/tensor.js'
import { type Arg, constant, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, valueArg } from '../analysis.js'
import { madeBy } from '../expression.js'
import type { Builder } from './builder.js'
import { quantizedWeight } from './weights.js'

/**
 * The rows of an embedding whose table is of integers: they are looked up before they become floats, not behind that. Results have the
 * same bits. Null for other nodes.
 */
export function integerEmbedding(node: OperatorNode, analysis: Analysis, builder: Builder): ValueId | null {
  const [id, indices] = node.args.map(valueArg)
  if (node.op !== 'aten::embedding' || id === undefined || indices === undefined || !analysis.isPure(node)) return null
  const weight = quantizedWeight(id, 0, analysis)
  const source = inputOf(madeBy(value(id), analysis))
  if (weight?.quant === undefined || weight.quant === null || weight.dim !== 2 || source === undefined) return null
  const { quant } = weight
  const rowsOf = (table: ValueId): ValueId | null => builder.add('aten::embedding', [value(table), ...node.args.slice(1)])
  const along = (numbers: readonly number[], name: string): ValueId | null => rowsOf(column(numbers, name, builder))
  const step = (op: string, on: ValueId | null, by: Arg | ValueId | null, ...rest: readonly Arg[]): ValueId | null => {
    if (on === null || by === null) return null
    return typeof by === 'number'
      ? builder.add(`aten::${op}.Tensor`, [value(on), value(by), ...rest])
      : builder.add(`aten::${op}.Scalar`, [value(on), by, ...rest])
  }
  const rows = rowsOf(source)
  const none = constant(null)
  const floats =
    rows === null ? null : builder.add('aten::to.dtype', [value(rows), constant(DType.float32), constant(false), constant(false), none])
  if (!isPerChannel(quant)) {
    const moved = quant.zeroPoint === 0 ? floats : step('sub', floats, constant(quant.zeroPoint), constant(1))
    return step('mul', moved, constant(new Float(quant.scale)))
  }
  const isCentred = quant.zeroPoints.every((zero) => zero === 0)
  const moved = isCentred ? floats : step('sub', floats, along(quant.zeroPoints, 'zero points'), constant(1))
  return step('mul', moved, along(quant.scales, 'scales'))
}

/** A constant with a number in each row. */
function column(numbers: readonly number[], name: string, { editor }: Builder): ValueId {
  const tensor = empty([numbers.length, 1], DType.float32)
  writeTensor(tensor, Float32Array.from(numbers))
  return editor.addConstant(tensor, name)
}
