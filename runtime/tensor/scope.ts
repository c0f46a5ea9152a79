import { TENSOR_ELEMENTS } from '../limits.js'
import { grow } from './element-budget.js'
import type { Tensor } from './tensor.js'

/**
 * Tensors made since the scope was entered, in order. The interpreter uses it to give memory back at a
 * tensor's last use; outside a run, an eager operator call uses it to release its temporaries.
 */
export interface Scope {
  readonly created: Tensor[]
}

let current: Scope | null = null

export function currentScope(): Scope | null {
  return current
}

/** Makes `scope` the current one and returns the one before, to be put back when done. */
export function enterScope(scope: Scope | null): Scope | null {
  const before = current
  current = scope
  return before
}

/** Called by every new tensor. */
export function noteCreated(tensor: Tensor): void {
  if (current === null) return
  // first, so that one that is too many is released with the others
  current.created.push(tensor)
  grow(TENSOR_ELEMENTS + 2 * tensor.dim)
}
