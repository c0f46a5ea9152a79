import { check, PtliteError } from '../../error.js'
import { DType, dtypeName, isFloat8 } from '../../tensor/dtype.js'
import { shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import * as at from '../generated/dispatch.js'
import { castTo } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'

/**
 * Product [m, n] of float8 rows [m, k] and columns [k, n], each times its scale in float32, plus a bias [n] (torch._scaled_mm on the CPU). Scales are one
 * element for all, or [m, 1] and [1, n]. The result has the rows' dtype by default; `scale_result` divides one of float8 that was asked for.
 * Throws INVALID_DTYPE where an operand is not float8, INVALID_ARGUMENT where sizes do not fit.
 */
export function _scaled_mm(
  self: Tensor,
  mat2: Tensor,
  scaleA: Tensor,
  scaleB: Tensor,
  bias: Tensor | null,
  scaleResult: Tensor | null,
  outType: DType | null,
  _fast: boolean,
  out?: Tensor,
): Tensor {
  for (const operand of [self, mat2]) {
    if (!isFloat8(operand.type)) throw new PtliteError('INVALID_DTYPE', `_scaled_mm: expected float8 operands, found ${operand.dtype}`)
  }
  check(
    self.dim === 2 && mat2.dim === 2 && self.shape[1] === mat2.shape[0],
    () => `_scaled_mm: shapes ${shapeText(self.shape)} and ${shapeText(mat2.shape)} cannot be multiplied`,
  )
  const [m, n] = [self.shape[0]!, mat2.shape[1]!]
  checkScales(scaleA, scaleB, m, n)
  check(bias === null || bias.numel === n, () => `_scaled_mm: expected a bias of ${n} elements, found ${bias!.numel}`)
  check(
    out === undefined || outType === null || out.type === outType,
    () => `_scaled_mm: expected an out tensor of ${dtypeName(outType!)}, found ${out!.dtype}`,
  )
  const rows = at.mul_Tensor(castTo(self, DType.float32), scaleA)
  const columns = at.mul_Tensor(castTo(mat2, DType.float32), scaleB)
  let product = at.mm(rows, columns)
  if (bias !== null) product = at.add_Tensor(product, castTo(bias, DType.float32), 1)
  if (scaleResult !== null && outType !== null && isFloat8(outType)) product = at.div_Tensor(product, scaleResult)
  return writeOut(castTo(product, out?.type ?? outType ?? self.type), out)
}

function checkScales(a: Tensor, b: Tensor, m: number, n: number): void {
  const areOfAll = a.numel === 1 && b.numel === 1
  const areOfEach = a.dim === 2 && a.shape[0] === m && a.shape[1] === 1 && b.dim === 2 && b.shape[0] === 1 && b.shape[1] === n
  check(
    a.type === DType.float32 && b.type === DType.float32 && (areOfAll || areOfEach),
    () =>
      `_scaled_mm: expected float32 scales of one element, or of shapes [${m}, 1] and [1, ${n}], found ${a.dtype} ${shapeText(a.shape)} and ${b.dtype} ${shapeText(b.shape)}`,
  )
}
