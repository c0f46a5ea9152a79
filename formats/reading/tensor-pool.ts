import { readTensor } from '../../runtime/tensor/data.js'
import { DType, isQuantized, itemSize, nameOfCode } from '../../runtime/tensor/dtype.js'
import { extentOf, numelOf } from '../../runtime/tensor/shape.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, type Value } from '../../runtime/tensor/value.js'
import type { ByteSource } from '../containers/bytes.js'
import { damaged, MAX_RANK, unexpected } from '../../program/file-error.js'
import { quantProblem } from './quantization.js'
import { ValueBudget } from '../containers/value-budget.js'

/** c10::ScalarType numbers that this runtime has no elements for. */
const UNSUPPORTED_TYPES: Readonly<Record<number, string>> = {
  8: 'complex32',
  17: 'quint2x4',
  18: 'bits1x8',
  19: 'bits2x4',
  20: 'bits4x2',
  21: 'bits8',
  22: 'bits16',
}
/** Scales and zero points of one file, so that a small file cannot ask for endless copies of them. */
const MAX_QUANT_NUMBERS = 2 ** 24

/** What a tensor counts for, beside its sizes and strides. */
const TENSOR = 8

/** A view on a storage as a file describes it. */
export interface TensorLayout {
  /** c10::ScalarType number. */
  readonly scalarType: number
  /** In elements. */
  readonly offset: number
  readonly sizes: readonly number[]
  readonly strides: readonly number[]
  readonly quant: Quant | null
}

/** A value that PyTorch can store and this runtime cannot use. Operators refuse it by its class name. */
export function unsupportedValue(what: string): CustomObject {
  return new CustomObject(`${what} (not supported by this runtime)`, null)
}

/** Bytes per element of a c10::ScalarType number, or undefined for numbers that mean nothing. */
export function scalarTypeSize(scalarType: number): number | undefined {
  return scalarType in UNSUPPORTED_TYPES ? 1 : isKnown(scalarType) ? itemSize(scalarType) : undefined
}

function isKnown(scalarType: number): scalarType is DType {
  return nameOfCode(scalarType) !== undefined
}

/** A storage of at least `bytes`: tensors of 4-bit elements count a byte for each, and views on them reach as far. */
function widened(storage: Storage, bytes: number): Storage {
  if (storage.byteLength >= bytes) return storage
  const wide = Storage.holding(new Uint8Array(bytes))
  kernels.mem_copy({ to: wide.address, from: storage.address, bytes: storage.byteLength })
  return wide
}

/** Makes the tensors of one file, and gives them up together. All are pinned. */
export class TensorPool {
  private readonly tensors: Tensor[] = []
  private quantNumbers = 0
  private closed = false

  constructor(
    private readonly source: ByteSource,
    private readonly budget = new ValueBudget(source.size),
  ) {}

  /**
   * A tensor on `storage`, or a stand-in where the dtype is one that this runtime lacks.
   * Throws INVALID_FILE where it would reach outside the storage.
   */
  build(storage: Storage, { scalarType, offset, sizes, strides, quant }: TensorLayout): Tensor | CustomObject {
    const missing = UNSUPPORTED_TYPES[scalarType]
    if (missing !== undefined) return unsupportedValue(`a ${missing} tensor`)
    if (!isKnown(scalarType)) throw damaged(`the scalar type number ${scalarType} means nothing`)
    if (sizes.length !== strides.length || sizes.length > MAX_RANK)
      throw damaged(`a tensor has ${sizes.length} sizes and ${strides.length} strides; expected as many of both, at most ${MAX_RANK}`)
    if (![...sizes, ...strides].every((n) => n >= 0))
      throw damaged(`a tensor has the sizes [${sizes.join(', ')}] and strides [${strides.join(', ')}]; expected numbers of at least 0`)
    const extent = extentOf(sizes, strides)
    const elements = extent === 0 ? 0 : offset + extent
    const bytes = scalarType === DType.quint4x2 ? Math.ceil(elements / 2) : elements * itemSize(scalarType)
    if (!(offset >= 0 && Number.isSafeInteger(offset) && Number.isSafeInteger(numelOf(sizes)) && bytes <= storage.byteLength))
      throw damaged(`a tensor of shape [${sizes.join(', ')}] at ${offset} reaches outside its storage of ${storage.byteLength} bytes`)
    if (isQuantized(scalarType) && quant === null) throw damaged('a quantized tensor has no scale and zero point')
    const problem = quant === null ? undefined : quantProblem(quant, scalarType, sizes)
    if (problem !== undefined) throw damaged(problem)
    this.budget.spend(TENSOR + 2 * sizes.length)
    if (scalarType === DType.quint4x2 && storage.byteLength < elements) this.budget.spendBytes(elements)
    const own = scalarType === DType.quint4x2 ? widened(storage, elements) : storage
    const tensor = new Tensor(own, offset, sizes, strides, scalarType, isQuantized(scalarType) ? quant : null)
    tensor.pinned = true
    this.tensors.push(tensor)
    return tensor
  }

  /** Takes over a tensor that was made of others of this file. */
  adopt(tensor: Tensor): Tensor {
    tensor.pinned = true
    this.tensors.push(tensor)
    return tensor
  }

  /** The numbers of a 1-d tensor of the file: scales, zero points, configurations. */
  numbers(tensor: Value | undefined): number[] {
    const fits =
      tensor instanceof Tensor &&
      tensor.dim === 1 &&
      (tensor.type === DType.int64 || tensor.type === DType.float32 || tensor.type === DType.float64)
    if (!fits) throw unexpected('a 1-d tensor of int64, float32 or float64 as scales or zero points', tensor)
    this.quantNumbers += tensor.shape[0]!
    if (this.quantNumbers > MAX_QUANT_NUMBERS) throw damaged('more scales and zero points than any model has')
    this.budget.spend(tensor.shape[0]!)
    return Array.from(readTensor(tensor), Number)
  }

  /** Releases every tensor. Closes the file too unless tensors made elsewhere still view its storages. */
  close(): void {
    if (this.closed) return
    this.closed = true
    const storages = new Set(this.tensors.map((tensor) => tensor.storage))
    for (const tensor of this.tensors.splice(0)) tensor.release()
    if (![...storages].some((storage) => storage.live)) this.source.close()
  }
}
