import * as kernels from '../native/generated/kernels.js'
import { release } from '../native/memory.js'
import { Storage } from './storage.js'

/** What plans and other threads do with storages beside the tensors that view them. */

/** Another thread starts to use the memory: `free` takes effect when the last such lease has ended. */
export function lease(storage: Storage): void {
  Storage.addLease(storage, 1)
}

export function endLease(storage: Storage): void {
  for (const doomed of Storage.addLease(storage, -1)) release(doomed)
}

/**
 * Lets go of the pages of a mapped file that lie wholly inside and were not written to: they are read from the file again when
 * they are next used. Other memory stays, and that of another thread, which may be writing to it. Nobody may write to it meanwhile.
 */
export function discardPages(storage: Storage): void {
  const { startAddress, byteLength } = storage
  const isMapped = !storage.owned && Storage.keptBy(storage) !== null
  if (isMapped && startAddress !== 0 && !Storage.isLeased(storage)) kernels.mem_discard({ address: startAddress, bytes: byteLength })
}

/** Gives back what kernels derived from the contents, but for `kept` and what another thread knows. */
export function dropDerived(storage: Storage, kept: ReadonlySet<Storage>): void {
  const left = Storage.derivedOf(storage)?.filter((d) => {
    const stays = d.lent === true || kept.has(d.storage)
    if (!stays) d.storage.free()
    return stays
  })
  Storage.setDerived(storage, left)
}
