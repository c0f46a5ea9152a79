import { check } from '../../error.js'
import { DType, dtypeName } from '../../tensor/dtype.js'
import { isHalf } from '../../tensor/half.js'
import type { Scalar } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { castTo } from '../support/copy.js'
import { checkSameType } from '../support/product.js'
import type { CPU } from '../support/generated/interfaces.js'
import { addmm, baddbmm } from './matrix-sums.js'
import { bmm, mm } from './matmul.js'

/** The operands in the dtype of a product that is to have dtype `type`: their own, or float32 for halves. */
function widened(operator: string, type: DType, operands: readonly Tensor[]): Tensor[] {
  for (const t of operands) {
    const fits = t.type === type || (type === DType.float32 && isHalf(t.type))
    check(
      fits,
      () => `${operator}: a product of dtype ${dtypeName(type)} takes operands of that dtype, or halves for float32; found ${t.dtype}`,
    )
  }
  return operands.map((t) => castTo(t, type))
}

/** mm whose result has another dtype than its operands: float32 for halves, which are not rounded to theirs in between. */
export function mm_dtype(self: Tensor, mat2: Tensor, type: DType, out?: Tensor): Tensor {
  checkSameType('mm', self, mat2)
  const [a, b] = widened('mm', type, [self, mat2]) as [Tensor, Tensor]
  return mm(a, b, out)
}

export function bmm_dtype(self: Tensor, mat2: Tensor, type: DType, out?: Tensor): Tensor {
  checkSameType('bmm', self, mat2)
  const [a, b] = widened('bmm', type, [self, mat2]) as [Tensor, Tensor]
  return bmm(a, b, out)
}

export function addmm_dtype(self: Tensor, mat1: Tensor, mat2: Tensor, type: DType, beta: Scalar, alpha: Scalar, out?: Tensor): Tensor {
  checkSameType('addmm', mat1, mat2)
  const [added, a, b] = widened('addmm', type, [self, mat1, mat2]) as [Tensor, Tensor, Tensor]
  return addmm(added, a, b, beta, alpha, out)
}

export const baddbmm_dtype: CPU['baddbmm_dtype'] = (self, batch1, batch2, type, beta, alpha, out) => {
  checkSameType('baddbmm', batch1, batch2)
  const [added, a, b] = widened('baddbmm', type, [self, batch1, batch2]) as [Tensor, Tensor, Tensor]
  return baddbmm(added, a, b, beta, alpha, out)
}
