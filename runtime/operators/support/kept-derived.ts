import { derivedOf, Storage } from '../../tensor/storage.js'
import { DType } from '../../tensor/dtype.js'
import { Tensor } from '../../tensor/tensor.js'

/** What `make` derives from the contents of a storage, kept with it under `key`, and made anew after a write. */
export function derivedIn(storage: Storage, key: string, make: () => Storage): Storage {
  return foundIn(storage, key) ?? keptIn(storage, key, make())
}

/**
 * What `make` derives from the contents of `t`, which are `bytes` long; kept with the storage where that is a module's, made anew
 * after a write, and otherwise released when the operator is done.
 */
export function keptDerived(t: Tensor, key: string, bytes: number, make: (out: number) => void): Storage {
  const { storage } = t
  const lasting = !storage.owned || storage.isWatched
  const full = `${key}:${t.offset}:${t.strides.join()}`
  const found = foundIn(storage, full)
  if (found !== undefined) return found
  const derived = Storage.allocate(bytes)
  make(derived.address)
  if (lasting) return keptIn(storage, full, derived)
  new Tensor(derived, 0, [bytes], [1], DType.uint8)
  return derived
}

/** What is kept under `key`; it is given back where the contents have changed since. */
function foundIn(storage: Storage, key: string): Storage | undefined {
  const kept = derivedOf(storage)
  const at = kept.findIndex((d) => d.key === key)
  if (at < 0) return undefined
  const { version, storage: found } = kept[at]!
  if (version === storage.version && found.live) return found
  kept.splice(at, 1)
  found.free()
  return undefined
}

function keptIn(storage: Storage, key: string, derived: Storage): Storage {
  derivedOf(storage).push({ key, version: storage.version, storage: derived })
  // it goes with what it was derived from
  derived.watch()
  return derived
}
