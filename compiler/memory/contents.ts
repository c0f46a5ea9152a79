import * as kernels from '../../runtime/native/generated/kernels.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'

/** What the memory of tensors holds, to be put back. */
export class Contents {
  private readonly copies = new Map<Storage, Uint8Array>()

  constructor(tensors: readonly Tensor[]) {
    for (const { storage } of tensors) {
      if (this.copies.has(storage) || storage.byteLength === 0) continue
      this.copies.set(storage, bytesAt(storage.address, storage.byteLength))
    }
  }

  /** What was disposed of, or has another size by now, stays as it is. */
  restore(): void {
    for (const [storage, bytes] of this.copies) if (storage.live && storage.byteLength === bytes.length) storage.write(bytes)
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

/** As `restoredOnFailure`, of what ends later. */
export async function restoredOnRejection<T>(tensors: readonly Tensor[], run: () => Promise<T>): Promise<T> {
  if (tensors.length === 0) return run()
  const before = new Contents(tensors)
  try {
    return await run()
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
