import { check, PtliteError } from '../../error.js'
import { anyItemOf, itemOf } from '../../tensor/data.js'
import { DType, dtypeName, isComplex } from '../../tensor/dtype.js'
import { type AnyScalar, Complex, scalarToBigInt, scalarToNumber } from '../../tensor/scalar.js'
import { checkOverlap } from '../../tensor/out.js'
import { broadcastShapes, wrapDim } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { contiguousCopy, contiguousOf, copyInto } from '../support/copy.js'
import { maskedFillInPlace } from './indexing.js'
import { checkIndexType, putIndexed } from './support/index-walk.js'
import { anyScalarTensor } from '../support/fill.js'
import { expandTo, scalarTensor, zerosOf } from '../support/make.js'
import { reduce } from '../support/reduce.js'
import { checkSameType, looseTargetOf } from '../support/target.js'

const RANGES: Readonly<Partial<Record<DType, readonly [bigint, bigint]>>> = {
  [DType.uint8]: [0n, 255n],
  [DType.int8]: [-128n, 127n],
  [DType.int16]: [-32768n, 32767n],
  [DType.int32]: [-(2n ** 31n), 2n ** 31n - 1n],
  [DType.int64]: [-(2n ** 63n), 2n ** 63n - 1n],
}

const LARGEST: Readonly<Partial<Record<DType, number>>> = {
  [DType.float16]: 65504,
  [DType.bfloat16]: 3.3895313892515355e38,
  [DType.float32]: 3.4028234663852886e38,
}

/** Throws where the number does not fit the dtype, as at::Scalar's checked conversion does. */
export function fitting(value: AnyScalar, type: DType, operator: string): Tensor {
  if (isComplex(type) || value instanceof Complex) return anyScalarTensor(value, type)
  const n = scalarToNumber(value)
  const range = RANGES[type]
  const largest = LARGEST[type]
  const unsignedWrap = type === DType.uint8 && n < 0 && n >= -255
  const fits =
    range !== undefined
      ? Number.isFinite(n) && (unsignedWrap || (scalarToBigInt(value) >= range[0] && scalarToBigInt(value) <= range[1]))
      : largest === undefined || !Number.isFinite(n) || Math.abs(n) <= largest
  if (!fits) throw new PtliteError('INVALID_ARGUMENT', `${operator}: ${n} cannot be converted to ${dtypeName(type)} without overflow`)
  return scalarTensor(value, type)
}

function zeroDimensional(value: Tensor, operator: string): AnyScalar {
  check(value.dim === 0, () => `${operator}: expected a value without dimensions, found ${value.dim}`)
  return anyItemOf(value)
}

/** torch.masked_fill: a copy, broadcast with the mask, that holds `value` where the mask holds. */
export function masked_fill_Scalar(self: Tensor, mask: Tensor, value: AnyScalar): Tensor {
  const copy = contiguousCopy(expandTo(self, broadcastShapes(self.shape, mask.shape)))
  return maskedFillInPlace(copy, mask, fitting(value, self.type, 'masked_fill'))
}

export function masked_fill_Tensor(self: Tensor, mask: Tensor, value: Tensor): Tensor {
  return masked_fill_Scalar(self, mask, zeroDimensional(value, 'masked_fill'))
}

/** In place; the mask must broadcast to the shape of `self`. */
export function masked_fill__Scalar(self: Tensor, mask: Tensor, value: AnyScalar): Tensor {
  return maskedFillInPlace(self, mask, fitting(value, self.type, 'masked_fill_'))
}

export function masked_fill__Tensor(self: Tensor, mask: Tensor, value: Tensor): Tensor {
  return masked_fill__Scalar(self, mask, zeroDimensional(value, 'masked_fill_'))
}

/** torch.index_fill: `value` in the slices along `dim` that `index` names; negative indices count from the end. */
export function index_fill_int_Scalar(self: Tensor, dim: number, index: Tensor, value: AnyScalar, out?: Tensor): Tensor {
  const along = wrapDim(dim, self.dim)
  checkIndexType(index, 'index_fill')
  check(index.dim <= 1, () => `index_fill: expected an index of at most one dimension, found ${index.dim}`)
  const target = looseTargetOf(self, out, 'index_fill', index)
  const list = contiguousOf(index)
  const shape = self.dim === 0 ? [list.numel] : self.shape.map((n, d) => (d === along ? list.numel : n))
  const indexed = shape.map((_, d) => (d === along ? 0 : target.strides[d]!))
  const operand = {
    index: list,
    strides: shape.map((_, d) => (d === along ? 1 : 0)),
    limit: self.shape[along] ?? 1,
    step: target.strides[along] ?? 0,
  }
  const walk = { shape, indexed, plain: shape.map(() => 0), indices: [operand] }
  putIndexed('copy', target, fitting(value, self.type, 'index_fill'), walk, { wrap: true })
  return target
}

export function index_fill_int_Tensor(self: Tensor, dim: number, index: Tensor, value: Tensor, out?: Tensor): Tensor {
  return index_fill_int_Scalar(self, dim, index, zeroDimensional(value, 'index_fill'), out)
}

/** torch.put: writes (or adds) source elements at positions of the flattened tensor; negative ones count from the end. */
export function put(self: Tensor, index: Tensor, source: Tensor, accumulate: boolean, out?: Tensor): Tensor {
  checkIndexType(index, 'put')
  checkSameType(self, source, 'put')
  check(index.numel === source.numel, () => `put: expected as many source elements as indices, found ${source.numel} and ${index.numel}`)
  check(self.numel > 0 || index.numel === 0, () => 'put: the tensor has no elements')
  if (out === self) checkOverlap(self, [])
  const target = looseTargetOf(self, out, 'put', index, source)
  const flat = contiguousOf(target)
  const list = contiguousOf(index)
  const operand = { index: list, strides: [1], limit: flat.numel, step: 1 }
  const walk = { shape: [list.numel], indexed: [0], plain: [1], indices: [operand] }
  putIndexed(accumulate ? 'add' : 'copy', flat, contiguousOf(source), walk, { wrap: true })
  if (flat !== target) copyInto(target, flat)
  return target
}

/** torch.one_hot: int64 rows with a 1 at the class; `classes` of -1 means one more than the largest. */
export function one_hot(self: Tensor, classes: number): Tensor {
  if (self.type !== DType.int64) throw new PtliteError('INVALID_DTYPE', `one_hot: expected int64, found ${self.dtype}`)
  if (self.numel === 0) {
    check(classes > 0, () => 'one_hot: the number of classes cannot be told from a tensor without elements')
    return zerosOf([...self.shape, classes], DType.int64)
  }
  const low = Number(itemOf(reduce('min', self, null, false, DType.int64)))
  const high = Number(itemOf(reduce('max', self, null, false, DType.int64)))
  check(low >= 0, () => `one_hot: expected no negative classes, found ${low}`)
  check(classes === -1 || high < classes, () => `one_hot: class ${high} does not fit ${classes} classes`)
  const count = classes === -1 ? high + 1 : classes
  const out = zerosOf([...self.shape, count], DType.int64)
  const operand = { index: self, strides: self.strides, limit: count, step: 1 }
  const walk = { shape: self.shape, indexed: out.strides.slice(0, -1), plain: self.shape.map(() => 0), indices: [operand] }
  putIndexed('copy', out, scalarTensor(1, DType.int64), walk)
  return out
}
