import { check } from '../../error.js'
import { itemOf } from '../../tensor/data.js'
import { DType, isComplex, isFloating, isIntegral, realOf } from '../../tensor/dtype.js'
import type { TensorOptions } from '../../tensor/options.js'
import { outputFor } from '../../tensor/out.js'
import { Float, type Scalar, scalarToNumber, storedValue } from '../../tensor/scalar.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { copyInto } from '../support/copy.js'
import { arithmetic, geometric, spaced } from '../support/sequence.js'
import { keyOf, refuseQuantized } from '../key.js'
import { checkStridedLayout } from './convert.js'

/** Arithmetic and geometric sequences as vectors. */

/** The int64 behind a scalar, as a number, truncated toward zero. */
function integer(value: Scalar): number {
  return Math.trunc(scalarToNumber(value))
}

/** Throws INVALID_ARGUMENT unless `step` leads from `start` to `end`. */
function checkBounds(start: number, end: number, step: number): void {
  check(step !== 0 && !Number.isNaN(step), () => `expected a step other than 0, found ${step}`)
  check(Number.isFinite(start) && Number.isFinite(end), () => `expected finite bounds, found ${start} and ${end}`)
  check(step > 0 ? end >= start : end <= start, () => `a step of ${step} does not lead from ${start} to ${end}`)
}

/** In int64 the bounds are truncated first; for narrower integers the elements are. */
function checkArange(start: Scalar, end: Scalar, step: Scalar, type: DType): void {
  const convert = type === DType.int64 ? integer : scalarToNumber
  checkBounds(convert(start), convert(end), convert(step))
}

/** Elements of `arange`: the end is left out. In int64 the bounds are truncated first. */
function arangeLength(start: Scalar, end: Scalar, step: Scalar, type: DType): number {
  const convert = type === DType.int64 ? integer : scalarToNumber
  return Math.max(Math.ceil((convert(end) - convert(start)) / convert(step)), 0)
}

function fillArange(out: Tensor, start: Scalar, step: Scalar): Tensor {
  const exact = isFloating(out.type) ? scalarToNumber : integer
  return written(out, (target) => arithmetic(target, exact(start), exact(step)))
}

/** Has `write` fill `out`, by way of a vector of a dtype that the sequence kernels write where it is another. */
function written(out: Tensor, write: (target: Tensor) => void): Tensor {
  const kernelType = out.type === DType.float32 || out.type === DType.float64 || out.type === DType.int64
  if (out.isContiguous && kernelType) {
    write(out)
    return out
  }
  const target = empty(out.shape, kernelType ? out.type : sequenceType(out.type))
  write(target)
  copyInto(out, target)
  return out
}

/** The dtype of the vector for one that the kernels do not write. */
function sequenceType(type: DType): DType {
  if (isComplex(type)) return realOf(type)
  return isFloating(type) ? DType.float32 : DType.int64
}

function isIntegralScalar(value: Scalar): boolean {
  return !(value instanceof Float)
}

export function arange_start_step(start: Scalar, end: Scalar, step: Scalar, options: TensorOptions): Tensor {
  checkStridedLayout(options.layout)
  const integral = isIntegralScalar(start) && isIntegralScalar(end) && isIntegralScalar(step)
  const type = options.dtype ?? (integral ? DType.int64 : DType.float32)
  checkArange(start, end, step, type)
  return fillArange(empty([arangeLength(start, end, step, type)], type), start, step)
}

export function arange(end: Scalar, options: TensorOptions): Tensor {
  return arange_start_step(0, end, 1, options)
}

export function arange_start(start: Scalar, end: Scalar, options: TensorOptions): Tensor {
  return arange_start_step(start, end, 1, options)
}

export function arange_start_out(start: Scalar, end: Scalar, step: Scalar, out: Tensor): Tensor {
  refuseQuantized('aten::arange', keyOf(out))
  checkArange(start, end, step, out.type)
  const length = arangeLength(start, end, step, out.type)
  return fillArange(out.numel === length ? out : outputFor(out, [length], out.type), start, step)
}

export function arange_out(end: Scalar, out: Tensor): Tensor {
  return arange_start_out(0, end, 1, out)
}

/** The indices of dimension `dim` of `like`. */
export function _dim_arange(like: Tensor, dim: number): Tensor {
  check(dim >= -like.shape.length && dim < like.shape.length, () => `dimension ${dim} is out of range for shape [${like.shape.join(', ')}]`)
  return arange(like.shape.at(dim)!, { dtype: DType.int64, layout: null, device: null, pinMemory: null })
}

/** As arange, with the end included. */
export function range_step(start: Scalar, end: Scalar, step: Scalar, options: TensorOptions): Tensor {
  checkStridedLayout(options.layout)
  return range_out(start, end, step, empty([0], options.dtype ?? DType.float32))
}

export function range(start: Scalar, end: Scalar, options: TensorOptions): Tensor {
  return range_step(start, end, 1, options)
}

export function range_out(start: Scalar, end: Scalar, step: Scalar, out: Tensor): Tensor {
  refuseQuantized('aten::range', keyOf(out))
  const [from, to, by] = [scalarToNumber(start), scalarToNumber(end), scalarToNumber(step)]
  checkArange(start, end, step, out.type)
  const length = Math.floor((to - from) / by) + 1
  return fillArange(out.numel === length ? out : outputFor(out, [length], out.type), start, step)
}

export function range_out_(start: Scalar, end: Scalar, out: Tensor): Tensor {
  return range_out(start, end, 1, out)
}

/** `steps` values from `start` to `end`, both included. */
export function linspace(start: Scalar, end: Scalar, steps: number, options: TensorOptions): Tensor {
  checkStridedLayout(options.layout)
  return linspace_out(start, end, steps, vector(steps, options))
}

function vector(steps: number, options: TensorOptions): Tensor {
  checkSteps(steps)
  return empty([steps], options.dtype ?? DType.float32)
}

function checkSteps(steps: number, out?: Tensor): void {
  check(steps >= 0, () => `expected a number of steps of at least 0, found ${steps}`)
  check(out?.type !== DType.bool || steps < 2, () => 'expected a dtype of numbers, found bool')
}

export function linspace_out(start: Scalar, end: Scalar, steps: number, out: Tensor): Tensor {
  refuseQuantized('aten::linspace', keyOf(out))
  checkSteps(steps, out)
  const result = out.numel === steps ? out : outputFor(out, [steps], out.type)
  const type = realOf(out.type)
  // PyTorch truncates integers in vectors of 32 bytes; a single step is the start
  const lanes = isIntegral(type, false) && steps > 1 ? 32 / out.itemSize : 0
  const last = steps === 1 ? start : end
  return written(result, (target) => spaced(target, storedValue(type, start), storedValue(type, last), lanes))
}

/** Powers of `base`, the exponents being those of linspace. */
export function logspace(start: Scalar, end: Scalar, steps: number, base: number, options: TensorOptions): Tensor {
  checkStridedLayout(options.layout)
  return logspace_out(start, end, steps, base, vector(steps, options))
}

export function logspace_out(start: Scalar, end: Scalar, steps: number, base: number, out: Tensor): Tensor {
  refuseQuantized('aten::logspace', keyOf(out))
  checkSteps(steps, out)
  const result = out.numel === steps ? out : outputFor(out, [steps], out.type)
  const type = realOf(out.type)
  // a single step keeps what an integer dtype would cut off
  const exponent = (value: Scalar) => (steps === 1 ? scalarToNumber(value) : storedValue(type, value))
  return written(result, (target) => geometric(target, exponent(start), exponent(end), base))
}

/** The number in a 0-d tensor, of which the ends of a sequence may be one. */
function number0d(t: Tensor): Scalar {
  check(t.dim === 0, () => `expected 0-d tensors for start and end, found shape [${t.shape.join(', ')}]`)
  return itemOf(t)
}

export function linspace_Tensor_Tensor(start: Tensor, end: Tensor, steps: number, options: TensorOptions): Tensor {
  return linspace(number0d(start), number0d(end), steps, options)
}

export function linspace_Tensor_Tensor_out(start: Tensor, end: Tensor, steps: number, out: Tensor): Tensor {
  return linspace_out(number0d(start), number0d(end), steps, out)
}

export function linspace_Tensor_Scalar(start: Tensor, end: Scalar, steps: number, options: TensorOptions): Tensor {
  return linspace(number0d(start), end, steps, options)
}

export function linspace_Tensor_Scalar_out(start: Tensor, end: Scalar, steps: number, out: Tensor): Tensor {
  return linspace_out(number0d(start), end, steps, out)
}

export function linspace_Scalar_Tensor(start: Scalar, end: Tensor, steps: number, options: TensorOptions): Tensor {
  return linspace(start, number0d(end), steps, options)
}

export function linspace_Scalar_Tensor_out(start: Scalar, end: Tensor, steps: number, out: Tensor): Tensor {
  return linspace_out(start, number0d(end), steps, out)
}

export function logspace_Tensor_Tensor(start: Tensor, end: Tensor, steps: number, base: number, options: TensorOptions): Tensor {
  return logspace(number0d(start), number0d(end), steps, base, options)
}

export function logspace_Tensor_Tensor_out(start: Tensor, end: Tensor, steps: number, base: number, out: Tensor): Tensor {
  return logspace_out(number0d(start), number0d(end), steps, base, out)
}

export function logspace_Tensor_Scalar(start: Tensor, end: Scalar, steps: number, base: number, options: TensorOptions): Tensor {
  return logspace(number0d(start), end, steps, base, options)
}

export function logspace_Tensor_Scalar_out(start: Tensor, end: Scalar, steps: number, base: number, out: Tensor): Tensor {
  return logspace_out(number0d(start), end, steps, base, out)
}

export function logspace_Scalar_Tensor(start: Scalar, end: Tensor, steps: number, base: number, options: TensorOptions): Tensor {
  return logspace(start, number0d(end), steps, base, options)
}

export function logspace_Scalar_Tensor_out(start: Scalar, end: Tensor, steps: number, base: number, out: Tensor): Tensor {
  return logspace_out(start, number0d(end), steps, base, out)
}
