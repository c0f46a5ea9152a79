import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { arrayTypeOf, writeTensor } from '../../tensor/data.js'
import { DType, isComplex, isFloat8, isFloating, realOf } from '../../tensor/dtype.js'
import { stridesAs } from '../../tensor/iterator.js'
import { type Scalar, scalarToBigInt, scalarToNumber } from '../../tensor/scalar.js'
import { broadcastShapes, contiguousStrides, sameShape } from '../../tensor/shape.js'
import { empty, type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, contiguousOf, copyInto } from './copy.js'

/** A 0-d tensor of this scalar. Integers wrap, as in a C cast. */
export function scalarTensor(value: Scalar, type: DType): Tensor {
  if (type === DType.float16 || type === DType.bfloat16 || isFloat8(type)) return castTo(scalarTensor(value, DType.float32), type)
  if (isComplex(type)) return castTo(scalarTensor(value, realOf(type)), type)
  const t = empty([], type)
  const raw = new (arrayTypeOf(type))(1)
  if (type === DType.bool) raw[0] = Number(scalarToNumber(value) !== 0)
  else if (isFloating(type)) raw[0] = scalarToNumber(value)
  else if (type === DType.int64 || type === DType.uint64) raw[0] = scalarToBigInt(value)
  else raw[0] = Number(BigInt.asIntN(32, scalarToBigInt(value)))
  writeTensor(t, raw)
  return t
}

export function zerosOf(shape: readonly number[], type: DType): Tensor {
  const t = empty([...shape], type)
  if (t.numel > 0) kernels.mem_fill({ address: t.address, bytes: t.numel * t.itemSize, value: 0 })
  return t
}

export function filled(shape: readonly number[], type: DType, value: Scalar): Tensor {
  if (shape.length === 0) return scalarTensor(value, type)
  const t = empty([...shape], type)
  copyInto(t, scalarTensor(value, type))
  return t
}

/** The elements in row-major order as a one-dimensional tensor; a view where `t` is contiguous. */
export function flattened(t: Tensor): Tensor {
  return viewOf(contiguousOf(t), [t.numel], [1])
}

/** A view of `t` broadcast to `shape`. Throws where it does not broadcast to exactly that. */
export function expandTo(t: Tensor, shape: readonly number[]): Tensor {
  if (sameShape(t.shape, shape)) return t
  check(
    sameShape(broadcastShapes(t.shape, shape), shape),
    () => `shape [${t.shape.join(', ')}] cannot be broadcast to [${shape.join(', ')}]`,
  )
  return viewOf(t, [...shape], stridesAs(t, shape))
}

/** The elements in row-major order under another shape of as many elements; a view where `t` is contiguous. */
export function reshaped(t: Tensor, shape: readonly number[]): Tensor {
  return viewOf(contiguousOf(t), [...shape], contiguousStrides(shape))
}

/** A one-dimensional int64 tensor of these numbers. */
export function listOf(numbers: readonly number[]): Tensor {
  const t = empty([numbers.length], DType.int64)
  writeTensor(t, BigInt64Array.from(numbers, BigInt))
  return t
}
