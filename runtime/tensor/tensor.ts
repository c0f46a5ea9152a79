import { type DType, dtypeName, type DTypeName, isQuantized, itemSize } from './dtype.js'
import { noteCreated } from './scope.js'
import { contiguousStrides, isContiguous, numelOf } from './shape.js'
import { Storage } from './storage.js'

/** real = (integer - zeroPoint) * scale */
export interface PerTensorQuant {
  readonly scale: number
  readonly zeroPoint: number
}

/** One scale and zero point per index of dimension `axis`. */
export interface PerChannelQuant {
  readonly axis: number
  readonly scales: readonly number[]
  readonly zeroPoints: readonly number[]
  /** per_channel_affine_float_qparams: the zero points are fractions. */
  readonly floatZeroPoints?: boolean
}

export type Quant = PerTensorQuant | PerChannelQuant

export function isPerChannel(quant: Quant): quant is PerChannelQuant {
  return 'axis' in quant
}

/**
 * A strided view on a storage. Sizes and strides are in elements; a view shares its storage with the tensor it
 * was made from. In-place shape operators (`squeeze_`, `resize_`) replace `shape` and `strides`.
 */
export class Tensor {
  /** Holders that the interpreter counts: registers, stack slots and lists on the stack. */
  uses = 0
  /** Held by something that is not counted (the caller, a module, a container): not released at its last use. */
  pinned = false
  private released = false

  constructor(
    public storage: Storage,
    /** First element, counted from the start of the storage in elements. */
    public offset: number,
    public shape: readonly number[],
    public strides: readonly number[],
    public type: DType,
    public quant: Quant | null = null,
  ) {
    storage.users++
    noteCreated(this)
  }

  get dtype(): DTypeName {
    return dtypeName(this.type)
  }

  get dim(): number {
    return this.shape.length
  }

  get numel(): number {
    return numelOf(this.shape)
  }

  get itemSize(): number {
    return itemSize(this.type)
  }

  get isContiguous(): boolean {
    return isContiguous(this.shape, this.strides)
  }

  get isQuantized(): boolean {
    return isQuantized(this.type)
  }

  /** Native address of the first element. Throws DISPOSED after release. */
  get address(): number {
    return this.storage.address + this.offset * this.itemSize
  }

  /** Gives up this tensor's share of its storage; the last share frees it. Harmless the second time. */
  release(): void {
    if (this.released) return
    this.released = true
    if (--this.storage.users === 0) this.storage.free()
  }

  get isReleased(): boolean {
    return this.released
  }

  /** Makes this tensor another view (`set_data`, `resize_`): counts move from the old storage to the new one. */
  become(storage: Storage, offset: number, shape: readonly number[], strides: readonly number[]): void {
    if (storage !== this.storage) {
      storage.users++
      if (--this.storage.users === 0) this.storage.free()
      this.storage = storage
    }
    this.offset = offset
    this.shape = shape
    this.strides = strides
  }
}

/** A new contiguous tensor with undefined contents. */
export function empty(shape: readonly number[], type: DType, quant: Quant | null = null): Tensor {
  return new Tensor(Storage.allocate(numelOf(shape) * itemSize(type)), 0, shape, contiguousStrides(shape), type, quant)
}

/** A new dense tensor with undefined contents and these strides, which must cover the shape without overlap. */
export function emptyStrided(shape: readonly number[], strides: readonly number[], type: DType, quant: Quant | null = null): Tensor {
  return new Tensor(Storage.allocate(numelOf(shape) * itemSize(type)), 0, shape, strides, type, quant)
}

/** Another view on the storage of `base`. The caller has checked that it stays inside. */
export function viewOf(base: Tensor, shape: readonly number[], strides: readonly number[], offset = base.offset): Tensor {
  return new Tensor(base.storage, offset, shape, strides, base.type, base.quant)
}
