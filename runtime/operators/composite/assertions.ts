import { PtliteError } from '../../error.js'
import { dtypeName } from '../../tensor/dtype.js'
import { Layout, type TensorOptions } from '../../tensor/options.js'
import { type AnyScalar, Complex } from '../../tensor/scalar.js'
import { shapeText } from '../../tensor/shape.js'
import { isSparse } from '../../tensor/sparse.js'
import type { Tensor } from '../../tensor/tensor.js'
import { cloneOf } from '../support/copy.js'
import { empty_memory_format } from './factory.js'
import { is_nonzero } from './introspection.js'
import type { Composite } from '../support/generated/interfaces.js'

/*
 * Checks that exporters leave in a program. What fails is a MODEL_ERROR with the program's message. The functional forms hand on a
 * token, a tensor that says what comes after what.
 */

function fail(message: string): never {
  throw new PtliteError('MODEL_ERROR', `RuntimeError: ${message}`)
}

export function _assert_async(self: Tensor): void {
  _assert_async_msg(self, 'Expected Tensor with single nonzero value, but got zero')
}

/** Throws INVALID_ARGUMENT for a tensor with other than one element. */
export function _assert_async_msg(self: Tensor, message: string): void {
  if (!is_nonzero(self)) fail(message)
}

export function _assert_scalar(self: AnyScalar, message: string): void {
  const isTrue = self instanceof Complex ? self.re !== 0 || self.im !== 0 : Number(self) !== 0
  if (!isTrue) fail(message)
}

/** What is null is not looked at. Every tensor is on the CPU. */
export const _assert_tensor_metadata: Composite['_assert_tensor_metadata'] = (a, size, stride, dtype, device, layout) => {
  const differs = (what: string, expected: string, found: string): never =>
    fail(`Tensor ${what} mismatch! Expected: ${expected}, Got: ${found}`)
  if (size !== null && size.join() !== a.shape.join()) differs('sizes', shapeText(size), shapeText(a.shape))
  if (stride !== null && stride.join() !== a.strides.join()) differs('strides', shapeText(stride), shapeText(a.strides))
  if (dtype !== null && dtype !== a.type) differs('dtype', dtypeName(dtype), a.dtype)
  if (device !== null && device.type !== 'cpu') differs('device', device.toString(), 'cpu')
  const own = isSparse(a) ? a.layout : Layout.strided
  if (layout !== null && layout !== own) differs('layout', `layout ${layout}`, `layout ${own}`)
}

/** A token that nothing comes before: a 0-d tensor of any value. */
export function _make_dep_token(options: TensorOptions, format: number | null): Tensor {
  return empty_memory_format([], options, format)
}

export function _functional_assert_async_msg(self: Tensor, message: string, token: Tensor): Tensor {
  _assert_async_msg(self, message)
  return cloneOf(token)
}

export function _functional_assert_scalar(self: AnyScalar, message: string, token: Tensor): Tensor {
  _assert_scalar(self, message)
  return cloneOf(token)
}

/** Whether `self` may become another view of what `other` is: both strided, both sparse, or both quantized. */
export function _has_compatible_shallow_copy_type(self: Tensor, other: Tensor): boolean {
  return isSparse(self) === isSparse(other) && self.isQuantized === other.isQuantized
}
