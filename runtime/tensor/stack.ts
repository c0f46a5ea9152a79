import type { Value } from './value.js'

/** The value stack. Everything at index `top` and above is dead and may be overwritten. */
export interface Stack {
  readonly values: Value[]
  top: number
}

export function newStack(): Stack {
  return { values: [], top: 0 }
}

export function push(stack: Stack, value: Value): void {
  stack.values[stack.top++] = value
}
