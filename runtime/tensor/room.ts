import { mem_copy } from '../native/generated/kernels.js'
import { Storage } from './storage.js'
import type { Tensor } from './tensor.js'

/**
 * The storage of `t`, of at least so many bytes: where it has less, it grows, and what else views it sees the same elements there. What
 * nobody else views gets another storage, which a plan can make, too. `kept`: its contents are read.
 */
export function roomFor(t: Tensor, bytes: number, kept: boolean): Storage {
  const { storage } = t
  const before = storage.byteLength
  if (bytes <= before) return storage
  const isShared = Storage.isShared(storage)
  const grown = Storage.allocate(bytes)
  if ((kept || isShared) && before > 0) mem_copy({ to: grown.address, from: storage.address, bytes: before })
  if (!isShared) return grown
  Storage.takeOver(storage, grown)
  return storage
}
