import { PtliteError } from '../error.js'
import { reading } from './check-arguments.js'
import { arrayTypeOf, readTensor, type TypedArray } from './data.js'
import { DType, type DTypeName, dtypeFromName, itemSize } from './dtype.js'
import { type Quant, Tensor } from './tensor.js'
import { byteLengthOf, isArrayBuffer } from '../intrinsics.js'

/** A tensor as plain data: `structuredClone` and `postMessage` take it, and its buffer in the list of what they transfer. */
export interface DetachedTensor {
  /** Of the elements. */
  readonly dtype: DTypeName
  /** Sizes of its dimensions. */
  readonly shape: readonly number[]
  /** The elements in row-major order, as `data()` has them. */
  readonly buffer: ArrayBuffer
  /** null for tensors that are not quantized. */
  readonly quant: Quant | null
}

/** Takes the elements out of a tensor, which is disposed of. Throws DISPOSED. */
export function detach(t: Tensor): DetachedTensor {
  if (t.isReleased) throw new PtliteError('DISPOSED', 'the tensor was disposed')
  const { dtype, shape, quant } = t
  const { buffer } = readTensor(t)
  t.dispose()
  return { dtype, shape: [...shape], buffer: buffer as ArrayBuffer, quant }
}

/** A tensor of what `detach` made. Throws INVALID_ARGUMENT for anything else, such as one whose buffer went to another thread. */
export function attach(detached: DetachedTensor): Tensor {
  return reading(() => {
    // not instanceof: it may come from another realm
    const { dtype, shape, buffer, quant } = (detached as Partial<DetachedTensor> | null) ?? {}
    if (typeof detached !== 'object' || !isArrayBuffer(buffer) || dtype === undefined || shape === undefined)
      throw new PtliteError('INVALID_ARGUMENT', 'expected what tensor.detach() returns: dtype, shape, buffer and quant')
    const type = dtypeFromName(dtype)
    const length = byteLengthOf(viewOn(buffer, DType.uint8))
    if (length % itemSize(type) !== 0)
      throw new PtliteError('INVALID_ARGUMENT', `expected a buffer of whole ${dtype} elements, found ${length} bytes`)
    return Tensor.fromStorage(viewOn(buffer, type), { dtype, shape, quant })
  })
}

function viewOn(buffer: ArrayBuffer, type: DType): TypedArray {
  try {
    return new (arrayTypeOf(type))(buffer)
  } catch {
    throw new PtliteError('INVALID_ARGUMENT', 'the buffer of this tensor was transferred: it is where it was sent to')
  }
}
