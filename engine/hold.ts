import { reachable } from '../program/reach.js'
import { viewOf } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'

/** Keeps the memory of all tensors in `values`, even if they are disposed, until the returned function is called. */
export function hold(values: readonly Value[]): () => void {
  const views = [...reachable(values)].map((t) => viewOf(t, t.shape, t.strides))
  return () => {
    for (const view of views) view.release()
  }
}
