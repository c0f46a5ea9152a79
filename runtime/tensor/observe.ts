import type { Tensor } from './tensor.js'
import * as features from '../features.js'

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
