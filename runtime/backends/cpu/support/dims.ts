import { check } from '../../../error.js'
import { wrapDim } from '../../../tensor/shape.js'

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
  const dims: number[] = []
  for (let d = shape.length - 1; d >= 0; d--) if (shape[d] !== 1) dims.push(d)
  const lead = operands[0]
  if (lead !== undefined) dims.sort((a, b) => lead[a]! - lead[b]! || b - a)
  const sizes: number[] = []
  const strides: number[][] = operands.map(() => [])
  for (const d of dims) {
    const last = sizes.length - 1
    if (last >= 0 && operands.every((s, k) => s[d] === strides[k]![last]! * sizes[last]!)) {
      sizes[last] = sizes[last]! * shape[d]!
      continue
    }
    sizes.push(shape[d]!)
    operands.forEach((s, k) => strides[k]!.push(s[d]!))
  }
  return { sizes, strides }
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
