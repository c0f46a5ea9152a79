import { check } from '../runtime/error.js'
import * as data from '../runtime/tensor/data.js'
import { type DType, dtypeFromCode } from '../runtime/tensor/dtype.js'
import * as resizing from '../runtime/tensor/out.js'
import { contiguousStrides, extentOf, numelOf, sizesOf } from '../runtime/tensor/shape.js'
import * as tensors from '../runtime/tensor/tensor.js'
import { type Quant, Tensor } from '../runtime/tensor/tensor.js'
import * as writes from '../runtime/tensor/observe.js'

/*
 * What native functions of custom operators make tensors with. Like the library's own functions of these names, but nothing is believed: each
 * throws INVALID_ARGUMENT for sizes and strides that do not lie in the memory, and for what is no tensor.
 */

/** A new contiguous tensor with undefined contents. */
export function empty(shape: readonly number[], type: DType, quant: Quant | null = null): Tensor {
  return exposed(tensors.empty(sizesOf(shape, 'shape'), dtypeFromCode(type), quant))
}

/** A new dense tensor with undefined contents and these strides, which must cover the shape without overlap. */
export function emptyStrided(shape: readonly number[], strides: readonly number[], type: DType, quant: Quant | null = null): Tensor {
  const [sizes, steps] = placed(shape, strides)
  check(extentOf(sizes, steps) <= numelOf(sizes), () => `strides [${steps.join(', ')}] do not cover [${sizes.join(', ')}] without gaps`)
  return exposed(tensors.emptyStrided(sizes, steps, dtypeFromCode(type), quant))
}

/** Another view on the storage of `base`, quantized in the same way. */
export function viewOf(base: Tensor, shape: readonly number[], strides: readonly number[], offset?: number): Tensor {
  const start = offset ?? Tensor.own(base).offset
  const [sizes, steps] = placed(shape, strides)
  const extent = extentOf(sizes, steps)
  const length = Tensor.own(base).storage.byteLength / base.itemSize
  check(Number.isSafeInteger(start) && start >= 0 && (extent === 0 || start + extent <= length), () => {
    return `the view needs ${start + extent} elements, the storage has ${length}`
  })
  return exposed(tensors.viewOf(base, sizes, steps, start))
}

/**
 * Gives `self` this shape in place (`resize_`): what fits keeps its elements in storage order, new elements are
 * undefined. A storage that is too small is replaced, so other views keep the old one.
 */
export function resize(
  self: Tensor,
  shape: readonly number[],
  strides: readonly number[] = contiguousStrides(sizesOf(shape, 'shape')),
): Tensor {
  const [sizes, steps] = placed(shape, strides)
  return resizing.resize(Tensor.own(self), sizes, steps)
}

/**
 * Where an operator writes a result of this shape and dtype: a new tensor without `out`, else `out`, resized to the
 * shape where it differs. Throws INVALID_ARGUMENT where the dtype cannot be written into `out`.
 */
export function outputFor(out: Tensor | undefined, shape: readonly number[], dtype: DType): Tensor {
  return exposed(resizing.outputFor(out === undefined ? out : Tensor.own(out), sizesOf(shape, 'shape'), dtypeFromCode(dtype)))
}

/** A row-major copy of the elements, complex ones as pairs. */
export function readTensor(t: Tensor): ReturnType<typeof data.readTensor> {
  return data.readTensor(Tensor.own(t))
}

/** Fills a contiguous tensor from an array of its own element type and length. */
export function writeTensor(t: Tensor, from: data.TypedArray): void {
  data.writeTensor(Tensor.own(t), from)
}

/** To be called by every operator that writes into an existing tensor's data. */
export function noteWrite(t: Tensor): void {
  writes.noteWrite(Tensor.own(t))
}

function placed(shape: readonly number[], strides: readonly number[]): [readonly number[], readonly number[]] {
  const [sizes, steps] = [sizesOf(shape, 'shape'), sizesOf(strides, 'strides')]
  check(sizes.length === steps.length, () => `expected a stride for each of ${sizes.length} sizes, found ${steps.length}`)
  return [sizes, steps]
}

function exposed(t: Tensor): Tensor {
  Tensor.expose(t)
  return t
}
