import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'

/** What the memory of tensors holds, to be put back. */
export class Contents {
  private readonly copies = new Map<Storage, { readonly bytes: Uint8Array; readonly version: number }>()

  constructor(tensors: readonly Tensor[]) {
    for (const { storage } of tensors) {
      if (this.copies.has(storage) || storage.byteLength === 0) continue
      this.copies.set(storage, { bytes: bytesAt(storage.address, storage.byteLength), version: storage.version })
    }
  }

  /** What was disposed of, or has another size by now, stays as it is. */
  restore(): void {
    for (const [storage, { bytes }] of this.copies) if (storage.live && storage.byteLength === bytes.length) storage.write(bytes)
  }

  /** As `restore`, but for what was written to in the mean time, as far as versions tell. */
  restoreUnchanged(): void {
    for (const [storage, { version }] of this.copies) if (storage.version !== version) this.copies.delete(storage)
    this.restore()
  }
}

/** Where `run` fails, the memory of `tensors` holds what it held before. */
export function restoredOnFailure<T>(tensors: readonly Tensor[], run: () => T): T {
  if (tensors.length === 0) return run()
  const before = new Contents(tensors)
  try {
    return run()
  } catch (error) {
    before.restore()
    throw error
  }
}

export function bytesAt(address: number, bytes: number): Uint8Array {
  const copy = new Uint8Array(bytes)
  kernels.mem_read({ address, bytes }, copy)
  return copy
}
