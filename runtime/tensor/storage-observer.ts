import type { Storage } from './storage.js'

/** Sees what a run does with memory. */
export interface StorageObserver {
  /** A kernel is about to be given an address in this storage. */
  used(storage: Storage): void
  allocated(storage: Storage): void
  freed(storage: Storage): void
  /** It gets other memory, at another address. */
  moved(storage: Storage): void
}

export let storageObserver: StorageObserver | null = null

/** Makes `next` see the storages of this thread and returns who saw them before, to be put back when done. */
export function observeStorages(next: StorageObserver | null): StorageObserver | null {
  const before = storageObserver
  storageObserver = next
  return before
}
