import { unsupported } from '../../program/file-error.js'
import { arrayTypeOf } from '../../runtime/tensor/data.js'
import { dtypeFromName, type DTypeName, isFloating } from '../../runtime/tensor/dtype.js'
import { Tensor } from '../../runtime/tensor/tensor.js'

/** Elements beyond which arguments are not made up. */
const MAX_ELEMENTS = 2 ** 28

/** The bits of a half, where elements are bits. */
const HALF: Readonly<Partial<Record<DTypeName, number>>> = { float16: 0x3800, bfloat16: 0x3f00 }

/** A tensor of halves, or of zeros, which are positions in any table. */
export function exampleTensor(dtype: DTypeName, shape: readonly number[]): Tensor {
  const length = shape.reduce((a, b) => a * b, 1)
  if (length > MAX_ELEMENTS) throw unsupported(`an argument of the sizes [${shape.join(', ')}] is too large to be made up; give --shape`)
  const type = dtypeFromName(dtype)
  const data = new (arrayTypeOf(type))(length)
  if (isFloating(type)) data.fill((HALF[dtype] ?? 0.5) as never)
  return Tensor.fromStorage(data as never, { dtype, shape })
}
