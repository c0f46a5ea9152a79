import * as kernels from '../../../native/generated/kernels.js'
import { DType } from '../../../tensor/dtype.js'
import { sameShape } from '../../../tensor/shape.js'
import { empty, Tensor } from '../../../tensor/tensor.js'
import { noteWrite } from '../../../tensor/observe.js'
import type { Operand } from '../../../tensor/promote.js'

export type TruthName = keyof typeof kernels.TruthOp

function isDenseBool(x: Operand): x is Tensor {
  return x instanceof Tensor && x.type === DType.bool && x.isContiguous
}

/**
 * op(a, b) of dense bools of one shape, into a new tensor or in place; `not` takes `a` alone. null where operands or `out` need the
 * general walk.
 */
export function denseTruth(op: TruthName, a: Operand, b: Operand | null, out: Tensor | undefined): Tensor | null {
  if (!isDenseBool(a) || (out !== undefined && out !== a)) return null
  if (b !== null && !(isDenseBool(b) && sameShape(a.shape, b.shape))) return null
  if (out !== undefined && b !== null && b !== a && (b as Tensor).storage === a.storage) return null
  const result = out ?? empty(a.shape, DType.bool)
  const other = b === null ? a : (b as Tensor)
  kernels.truth({ op: kernels.TruthOp[op], n: a.numel, a: a.address, b: other.address, out: result.address })
  if (out !== undefined) noteWrite(out)
  return result
}
