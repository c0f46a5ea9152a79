import { DType } from '../../../runtime/tensor/dtype.js'
import { isHalf } from '../../../runtime/tensor/half.js'
import { isContiguous, numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { constant, type GraphNode, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { baseOf } from '../../graph/node.js'
import { type Analysis, analysisOf, inputOf, onlyResult, valueArg } from '../analysis.js'
import { Editor } from '../editor.js'
import { INTS } from '../../graph/fields.js'
import type { Pass } from '../pass.js'

/**
 * Has attention read keys and values where they lie in fewer bits, in place of copies of all of them in float32: 16-bit floats, and integers of 8 bits with a scale for each row.
 *
 *     %4: float32[1, 2, 40, 8] = aten::mul.Tensor(%0, %1)       %0: int8[1, 2, 40, 8], %1: float32[1, 2, 40, 1]
 *     %5: float32[1, 1, 40, 8] @4 = aten::slice.Tensor(%4, 1, 0, 1, 1)
 *     %6 = attention(query=%2, key=%5, ...)               →     %6 = attention(query=%2, key=%7, ..., keyScales=%8)
 *
 * where %7 and %8 are the views of %0 and %1 that %5 is of their product. A product is rounded once either way.
 */
export const narrowRows: Pass = {
  name: 'narrow rows',
  run(graph) {
    const analysis = analysisOf(graph)
    const editor = new Editor(graph)
    let changed = false
    for (const node of graph.nodes) {
      if (node.kind !== 'attention' || node.keyScales !== null || analysis.type(node.query).dtype !== DType.float32) continue
      const [key, values] = [node.key, node.value].map((id) => rowsOf(id, analysis))
      if (key === null || key === undefined || values === null || values === undefined || key.dtype !== values.dtype) continue
      const before: GraphNode[] = []
      const shown = ({ from, part }: View): ValueId => {
        const view = editor.newValue(part, editor.storageOf(from))
        const { shape, strides, offset } = part
        const args = [value(from), INTS.toArg(shape), INTS.toArg(strides), constant(offset)]
        before.push({ ...baseOf(node), kind: 'operator', op: 'aten::as_strided', args, results: [{ kind: 'value', id: view }], writes: [] })
        return view
      }
      const [keyScales, valueScales] = [key, values].map(({ scales }) => (scales === null ? null : shown(scales))) as [
        ValueId | null,
        ValueId | null,
      ]
      const narrow = { key: shown(key.numbers), value: shown(values.numbers), keyScales, valueScales }
      editor.replaceNode(node, [...before, { ...node, ...narrow }])
      changed = true
    }
    return changed ? editor.finish() : graph
  },
}

/** A part of a tensor. */
interface View {
  readonly from: ValueId
  readonly part: TensorType
}

/** What rows of float32 were made of. */
interface NarrowRows {
  readonly dtype: DType
  readonly numbers: View
  readonly scales: View | null
}

function rowsOf(id: ValueId, analysis: Analysis): NarrowRows | null {
  const whole = wholeOf(id, analysis)
  const made = whole === null ? undefined : analysis.producer(whole)
  if (whole === null || made?.kind !== 'operator' || onlyResult(made) !== whole || !analysis.canBeLater(made)) return null
  const { shape, strides, offset } = analysis.type(whole)
  if (!isContiguous(shape, strides) || offset !== 0) return null
  const [first, second] = made.args.slice(0, 2).map(valueArg)
  if (first === undefined) return null
  const numbers = analysis.type(first)
  if (numbers.quant !== null || !sameShape(numbers.shape, shape) || !isContiguous(numbers.shape, numbers.strides)) return null
  const part = analysis.type(id)
  const view = { from: first, part: { ...part, dtype: numbers.dtype, offset: numbers.offset + part.offset } }
  if (isCast(made) && isHalf(numbers.dtype)) return { dtype: numbers.dtype, numbers: view, scales: null }
  if (made.op !== 'aten::mul.Tensor' || second === undefined || numbers.dtype !== DType.int8) return null
  const scales = scalesOf(part, shape, analysis.type(second))
  return scales === null ? null : { dtype: numbers.dtype, numbers: view, scales: { from: second, part: scales } }
}

function isCast({ op }: OperatorNode): boolean {
  return op === 'aten::to.dtype' || op === 'aten::_to_copy'
}

/** What a value is a view of, or itself. */
function wholeOf(id: ValueId, analysis: Analysis): ValueId | null {
  for (let whole = id; ;) {
    const made = analysis.producer(whole)
    const before = made?.kind === 'operator' ? inputOf(made) : undefined
    if (made === undefined || before === undefined || analysis.storage(before) !== analysis.storage(whole)) return whole
    if (made.writes.length > 0) return null
    whole = before
  }
}

/** The scales of the rows of a part of a tensor, whose whole has these for all of its rows; null where the part has no whole rows, or pieces of such. */
function scalesOf(part: TensorType, shape: readonly number[], scales: TensorType): TensorType | null {
  const width = shape.at(-1)!
  if (scales.dtype !== DType.float32 || !sameShape(scales.shape, [...shape.slice(0, -1), 1])) return null
  if (!isContiguous(scales.shape, scales.strides) || numelOf(scales.shape) === 0) return null
  const rows = [...part.shape.slice(0, -1), 1]
  const isRow = (part.offset % width) + part.shape.at(-1)! <= width && part.strides.at(-1) === 1
  if (!isRow || part.shape.some((n, d) => d < part.shape.length - 1 && n > 1 && part.strides[d]! % width !== 0)) return null
  const strides = part.strides.map((stride, d) => (d === part.shape.length - 1 ? 1 : Math.floor(stride / width)))
  return { ...scales, shape: rows, strides, offset: scales.offset + Math.floor(part.offset / width) }
}
