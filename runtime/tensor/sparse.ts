import { hide } from './public-tensor.js'
import { contiguousStrides, refuseSparse } from './shape.js'
import { Storage } from './storage.js'
import { Tensor, viewOf } from './tensor.js'

/**
 * A sparse tensor in coordinate form: `values[i]` (a number, or a dense block of the trailing dimensions) stands at
 * `indices[:, i]`; of equal coordinates the values add up. It has no storage of its own: operators that expect a dense
 * tensor fail where they ask for its address.
 */
export class SparseTensor extends Tensor {
  #indices: Tensor
  #values: Tensor
  #coalesced: boolean

  constructor(indices: Tensor, values: Tensor, shape: readonly number[], coalesced: boolean) {
    super(Storage.borrow(0, 0, undefined), 0, shape, contiguousStrides(shape), values.type)
    this.#indices = kept(indices)
    this.#values = kept(values)
    this.#coalesced = coalesced
    hide(SparseTensor)
  }

  override get isSparse(): boolean {
    return true
  }

  /** int64, [sparse dimensions, count] */
  get indices(): Tensor {
    return this.#indices
  }

  /** [count, ...dense dimensions] */
  get values(): Tensor {
    return this.#values
  }

  /** Coordinates are unique and in row-major order. */
  get coalesced(): boolean {
    return this.#coalesced
  }

  set coalesced(value: boolean) {
    this.#coalesced = value
  }

  get sparseDim(): number {
    return this.indices.shape[0]!
  }

  /** Number of values. */
  get count(): number {
    return this.values.shape[0]!
  }

  override get address(): number {
    return refuseSparse(this.shape)
  }

  replace(indices: Tensor, values: Tensor, shape: readonly number[]): void {
    this.#indices.release()
    this.#values.release()
    this.#indices = kept(indices)
    this.#values = kept(values)
    Tensor.relocate(this, this.storage, 0, shape, contiguousStrides(shape))
  }

  override release(): void {
    super.release()
    this.#indices.release()
    this.#values.release()
  }
}

/** A view that lives as long as the sparse tensor, whatever becomes of the tensor that was given. */
function kept(t: Tensor): Tensor {
  const view = viewOf(t, t.shape, t.strides)
  view.pinned = true
  view.storage.watch()
  return view
}
