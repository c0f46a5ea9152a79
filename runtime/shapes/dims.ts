import { check } from '../error.js'
import { wrapDim } from '../tensor/shape.js'

/** Dims as a kernel walks them: innermost first, one list of strides per operand. */
export interface Walk {
  readonly sizes: number[]
  readonly strides: number[][]
}

/**
 * Drops dims of size 1, orders the rest by the strides of the first operand and merges neighbours that all
 * operands run through without a gap.
 */
export function coalesce(shape: readonly number[], operands: readonly (readonly number[])[]): Walk {
  const count = operands.length
  const dims: number[] = []
  for (let d = shape.length - 1; d >= 0; d--) if (shape[d] !== 1) dims.push(d)
  if (count > 0) orderBy(dims, operands[0]!)
  const sizes: number[] = []
  const strides: number[][] = []
  for (let k = 0; k < count; k++) strides.push([])
  for (let i = 0; i < dims.length; i++) {
    const d = dims[i]!
    const last = sizes.length - 1
    if (last >= 0 && continues(operands, strides, d, last, sizes[last]!)) {
      sizes[last] = sizes[last]! * shape[d]!
      continue
    }
    sizes.push(shape[d]!)
    for (let k = 0; k < count; k++) strides[k]!.push(operands[k]![d]!)
  }
  return { sizes, strides }
}

/** Sorts dims by their strides, equal ones innermost first. */
function orderBy(dims: number[], strides: readonly number[]): void {
  for (let i = 1; i < dims.length; i++) {
    const d = dims[i]!
    let at = i
    for (; at > 0 && strides[dims[at - 1]!]! > strides[d]!; at--) dims[at] = dims[at - 1]!
    dims[at] = d
  }
}

/** Every operand runs through dim `d` where it ends the merged dim `last`, of `size` elements. */
function continues(operands: readonly (readonly number[])[], strides: readonly number[][], d: number, last: number, size: number): boolean {
  for (let k = 0; k < operands.length; k++) if (operands[k]![d] !== strides[k]![last]! * size) return false
  return true
}

/** Which dims a reduction folds; null and an empty list stand for all. Throws for dims out of range or given twice. */
export function reducedDims(dims: readonly number[] | null, rank: number): boolean[] {
  const folded = new Array<boolean>(rank).fill(dims === null || dims.length === 0)
  for (const dim of dims ?? []) {
    const d = wrapDim(dim, rank)
    if (rank === 0) continue
    check(!folded[d], () => `dim ${d} appears multiple times in the list of dims`)
    folded[d] = true
  }
  return folded
}

/** The shape after folding: folded dims go away, or stay as 1. */
export function reducedShape(shape: readonly number[], folded: readonly boolean[], keepdim: boolean): number[] {
  return keepdim ? shape.map((n, d) => (folded[d] ? 1 : n)) : shape.filter((_, d) => !folded[d])
}

/** The list without entry `at`. */
export function without<T>(list: readonly T[], at: number): T[] {
  return list.filter((_, i) => i !== at)
}
