import { derivedOf, Storage } from '../../tensor/storage.js'
import { DType } from '../../tensor/dtype.js'
import { Tensor } from '../../tensor/tensor.js'

/**
 * What `make` derives from the contents of `t`, which are `bytes` long; kept with the storage where that is a module's, made anew
 * after a write, and otherwise released when the operator is done.
 */
export function keptDerived(t: Tensor, key: string, bytes: number, make: (out: number) => void): Storage {
  const { storage } = t
  const lasting = !storage.owned || storage.isWatched
  const kept = derivedOf(storage)
  const full = `${key}:${t.offset}:${t.strides.join()}`
  const at = kept.findIndex((d) => d.key === full)
  if (at >= 0 && kept[at]!.version === storage.version) return kept[at]!.storage
  if (at >= 0) kept.splice(at, 1)[0]!.storage.free()
  const derived = Storage.allocate(bytes)
  make(derived.address)
  if (lasting) {
    kept.push({ key: full, version: storage.version, storage: derived })
    // it goes with what it was derived from
    derived.watch()
  } else new Tensor(derived, 0, [bytes], [1], DType.uint8)
  return derived
}
