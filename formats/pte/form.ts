import type { TensorValue } from './plan.js'

/** What the elements of a tensor are and how they are laid out. */
export type Form = Pick<TensorValue, 'scalarType' | 'sizes' | 'dimOrder' | 'isDynamic'>

export function isSameForm(a: Form, b: Form): boolean {
  return (
    a === b ||
    (a.scalarType === b.scalarType && isSame(a.sizes, b.sizes) && (isSame(a.dimOrder, b.dimOrder) || (isOrdered(a) && isOrdered(b))))
  )
}

export function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}

/** Whether elements lie in the order of the dimensions: those of size 1 do not matter. */
export function isOrdered({ sizes, dimOrder }: Form): boolean {
  let last = -1
  for (const dim of dimOrder) {
    if (sizes[dim] === 1) continue
    if (dim < last) return false
    last = dim
  }
  return true
}

/** Strides, in elements, of a tensor that fills its memory. */
export function stridesOf({ sizes, dimOrder }: Form): number[] {
  const strides = sizes.map(() => 1)
  let stride = 1
  for (const dim of [...dimOrder].reverse()) {
    strides[dim] = stride
    stride *= Math.max(sizes[dim]!, 1)
  }
  return strides
}

/** The order that takes dimensions back to where they were. */
export function inverseOf(order: readonly number[]): number[] {
  const inverse = order.map(() => 0)
  order.forEach((from, to) => (inverse[from] = to))
  return inverse
}
