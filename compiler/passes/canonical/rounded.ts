import { DType } from '../../../runtime/tensor/dtype.js'
import { bfloat16ToNumber, numberToBfloat16 } from '../../../runtime/tensor/half.js'
import { value, type ValueId } from '../../graph/graph.js'
import type { RowRounding } from '../../graph/packed-weight.js'
import { type Analysis, inputOf, integersArg, numberArg } from '../analysis.js'
import { madeBy } from '../expression.js'

/* What is common to rows of bytes, however their quantization is written. */

/** Rows as bytes. */
export interface Rounded {
  readonly floats: ValueId
  readonly rows: RowRounding
  readonly scales: ValueId
  /** Null for 0. */
  readonly zeros: ValueId | null
}

/** The greatest byte. */
export const MOST = 127

/** What torchao takes as the least scale where none is given: the least normal number. */
export const LEAST_NORMAL = 2 ** -126

/** How rows of a dtype are rounded whose scales, and quotients by them, have another one; null where no kernel does. */
export function kindOf(isSymmetric: boolean, rows: DType, scales: DType): RowRounding['kind'] | null {
  if (rows === DType.float32 && scales === DType.float32) return isSymmetric ? 'symmetric' : 'affine'
  if (rows !== DType.bfloat16) return null
  if (scales === DType.bfloat16) return isSymmetric ? 'symmetric_bfloat16' : 'affine_bfloat16'
  return scales === DType.float32 && isSymmetric ? 'symmetric_widened' : null
}

/** The least scale of rows of a dtype, as the clamp of scales rounds it; null for one that kernels do not take. */
export function leastScale(eps: number, dtype: DType): number | null {
  const rounded = dtype === DType.bfloat16 ? bfloat16ToNumber(numberToBfloat16(eps)) : Math.fround(eps)
  return rounded >= LEAST_NORMAL && rounded < Infinity ? rounded : null
}

/** What a value of another dtype is converted from. */
export function conversionOf(id: ValueId, analysis: Analysis): ValueId | undefined {
  const node = madeBy(value(id), analysis)
  return node?.op === 'aten::to.dtype' || node?.op === 'aten::_to_copy' ? inputOf(node) : undefined
}

/** Operators that show a value under other dimensions, in the same order. */
const SHAPES = new Set(['reshape', 'view', '_unsafe_view', 'flatten.using_ints', 'squeeze.dim', 'unsqueeze'].map((name) => `aten::${name}`))

/** What a value shows under other dimensions, in the same order. */
export function shownBy(id: ValueId, analysis: Analysis): ValueId {
  const node = madeBy(value(id), analysis)
  const input = node !== undefined && SHAPES.has(node.op) ? inputOf(node) : undefined
  return input === undefined ? id : shownBy(input, analysis)
}

/** What a matrix is the transposition of. */
export function turnedBy(id: ValueId, analysis: Analysis): ValueId | undefined {
  const node = madeBy(value(id), analysis)
  if (node === undefined || analysis.type(id).shape.length !== 2) return undefined
  const dims =
    node.op === 'aten::permute' ? integersArg(node.args[1]) : node.op === 'aten::transpose.int' ? node.args.slice(1).map(numberArg) : []
  // of two dimensions, counted from either end
  const [first, second] = dims?.map((dim) => dim! & 1) ?? []
  const isTurned = node.op === 'aten::t' || (first !== second && (first === 1 || node.op === 'aten::transpose.int'))
  return isTurned ? inputOf(node) : undefined
}
