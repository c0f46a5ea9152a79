import type { Tensor } from './tensor.js'
import * as features from '../features.js'
import type { Storage } from './storage.js'
import { noteUse } from '../traced-parts.js'

/** Whoever has to know what makes a run depend on more than shapes: the recorder of a compiler. */
export interface DataObserver {
  /** TypeScript reads the elements of `tensor`, or a number that a kernel derived from them. */
  read(tensor: Tensor): void
  /** Random numbers are drawn. */
  random(): void
}

let observer: DataObserver | null = null

/** Makes `next` the observer of this thread and returns the one before, to be put back when done. */
export function observeData(next: DataObserver | null): DataObserver | null {
  const before = observer
  observer = next
  return before
}

/** To be called wherever element values reach TypeScript. */
export function noteRead(tensor: Tensor): void {
  if (features.compiler && observer !== null) observer.read(tensor)
}

/** To be called wherever the random generator is used. */
export function noteRandom(): void {
  if (features.compiler && observer !== null) observer.random()
}

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

/** To be called by every operator that writes into an existing tensor's data. */
export function noteWrite(tensor: Tensor): void {
  noteUse('writes')
  tensor.storage.version++
}
