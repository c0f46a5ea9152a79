import { readTensor } from '../../../runtime/tensor/data.js'
import { DType, isFloating } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { numelOf, sameShape } from '../../../runtime/tensor/shape.js'
import { type Arg, constant, denseType, type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { constantOf } from '../../graph/shared-constants.js'
import { type Analysis, valueArg } from '../analysis.js'
import type { Editor } from '../editor.js'
import { settledMaker } from '../expression.js'

/** What a mask of all scores does: nothing, hide the keys behind each query, or anything else. */
export function maskForm(mask: Arg, rows: number, analysis: Analysis): 'none' | 'causal' | 'any' {
  const id = valueArg(mask)
  const tensor = id === undefined ? undefined : analysis.tensor(id)
  if (tensor === undefined) return 'any'
  const data = readTensor(tensor)
  const isTruth = tensor.type === DType.bool
  const sees = (v: unknown): boolean => (isTruth ? v !== 0 : v === 0)
  if (data.every(sees)) return 'none'
  const columns = tensor.shape.at(-1)!
  // scores are nothing beside such numbers: what they are added to gets no weight, as the key at the query's own place is seen
  const hides = (v: unknown): boolean => (isTruth ? v === 0 : Number(v) <= -1e30)
  const later = (i: number): boolean => i % columns > Math.floor(i / columns) % rows
  return tensor.dim >= 2 && tensor.shape.at(-2) === rows && data.every((v: unknown, i: number) => (later(i) ? hides(v) : sees(v)))
    ? 'causal'
    : 'any'
}

/** The truth values of which a mask was made, 0 where they are true and -inf elsewhere, as `scaled_dot_product_attention` is decomposed. */
export function truthsOf(mask: Arg, analysis: Analysis): Arg | null {
  const [id, made] = [valueArg(mask), settledMaker(mask, analysis)]
  if (id === undefined || made?.op !== 'aten::where.self') return null
  const [truths, seen, hidden] = made.args.map(valueArg)
  if (truths === undefined || !isAll(seen, 0, analysis) || !isAll(hidden, -Infinity, analysis)) return null
  const { dtype, shape } = analysis.type(truths)
  return dtype === DType.bool && sameShape(shape, analysis.type(id).shape) ? value(truths) : null
}

/** True for a constant of one number. */
function isAll(id: ValueId | undefined, number: number, analysis: Analysis): boolean {
  const tensor = id === undefined ? undefined : analysis.tensor(id)
  return (
    tensor !== undefined && tensor.numel > 0 && isFloating(tensor.type) && readTensor(tensor).every((v: unknown) => Number(v) === number)
  )
}

/** Zeros, and -inf where a mask is true. */
export function filledMask({ origin }: OperatorNode, mask: ValueId, analysis: Analysis, editor: Editor): OperatorNode {
  const { shape } = analysis.type(mask)
  const zeros = editor.addConstant(constantOf(new Float32Array(numelOf(shape)), shape), 'zeros')
  const id = editor.newValue(denseType(DType.float32, shape))
  const args = [value(zeros), value(mask), constant(new Float(-Infinity))]
  return { kind: 'operator', op: 'aten::masked_fill.Scalar', args, results: [{ kind: 'value', id }], writes: [], origin }
}
