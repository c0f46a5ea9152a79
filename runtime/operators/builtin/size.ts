import { check } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import { broadcastShapes, wrapDim } from '../../tensor/shape.js'
import type { Value } from '../../tensor/value.js'

/* Integer arithmetic on lists of sizes. */

const numbers = (list: Value[]): number[] => list.map(Number)

/** torch.Size(list): the list itself. */
export function size_of_list(sizes: Value[]): Value[] {
  return sizes
}

/** The shape that two shapes broadcast to. Throws INVALID_ARGUMENT. */
export function infer_size(a: Value[], b: Value[]): Value[] {
  return broadcastShapes(numbers(a), numbers(b))
}

export function broadcast_sizes(rest: Value[]): Value[] {
  return rest.reduce<number[]>((shape, sizes) => {
    check(Array.isArray(sizes), () => 'expected lists of sizes')
    return broadcastShapes(shape, numbers(sizes))
  }, [])
}

/** The first shape where it differs from the second, else None. */
export function size_if_not_equal(self_size: Value[], other_size: Value[]): Value[] | null {
  return self_size.length === other_size.length && self_size.every((n, i) => n === other_size[i]) ? null : self_size
}

/** Sizes after a reduction over `red_axes`, which `keepdim` leaves in place with size 1. */
export function reduction_sizes(size: Value[], red_axes: Value[], keepdim: boolean): Value[] {
  const axes = new Set(numbers(red_axes))
  for (const axis of axes) check(axis >= 0 && axis < size.length, () => `expected an axis of 0 to ${size.length - 1}, found ${axis}`)
  return keepdim ? size.map((n, d) => (axes.has(d) ? 1 : n)) : size.filter((_, d) => !axes.has(d))
}

/** Sizes without those that are 1. */
export function squeeze_size(a: Value[]): Value[] {
  return a.filter((n) => n !== 1)
}

/** Sizes without dimension `dim` if it is 1. */
export function squeeze_size_dim(a: Value[], dim: Int): Value[] {
  const at = wrapDim(Number(dim), a.length)
  return a.filter((n, d) => d !== at || n !== 1)
}

/** Sizes with a 1 before dimension `dim`. */
export function unsqueeze_size(a: Value[], dim: Int): Value[] {
  const at = Number(dim) < 0 ? Number(dim) + a.length : Number(dim)
  check(at >= 0 && at <= a.length, () => `expected a dimension of ${-a.length} to ${a.length}, found ${dim}`)
  return a.toSpliced(at, 0, 1)
}
