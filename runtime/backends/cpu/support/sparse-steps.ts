import { JitAccess, JitAlgorithm } from '../../../native/generated/kernels.js'
import type { BlockStrides, PostOps } from './post-ops.js'

/** One of the steps that a block-sparse kernel injects behind its sums, on the running value alone or with an operand. */
export interface SparseStep {
  /** JitAlgorithm. */
  readonly op: number
  readonly access: number
  readonly numbers: readonly [number, number]
  /** Index among the operands; null for unary steps. */
  readonly operand: number | null
}

/** How the kernel reads an operand of [m, n] with these distances; undefined where it cannot. */
export function accessOf({ row, col }: BlockStrides): number | undefined {
  if (col === 1) return row === 0 ? JitAccess.row : JitAccess.full
  return row === 0 ? JitAccess.scalar : undefined
}

/** Steps as a chain in which each takes the result of the one before; null where they are none, or an operand cannot be read. */
export function chainOf(
  { ops, values, numbers }: Omit<PostOps, 'operands'>,
  operands: readonly BlockStrides[],
): readonly SparseStep[] | null {
  const chain: SparseStep[] = []
  const inputs = 1 + operands.length
  for (const [i, op] of ops.entries()) {
    const previous = i === 0 ? 0 : inputs + i - 1
    const step = stepOf(op, previous, values.slice(2 * i, 2 * i + 2), [numbers[2 * i] ?? 0, numbers[2 * i + 1] ?? 0], operands)
    if (step === null) return null
    chain.push(step)
  }
  return chain
}

function stepOf(
  op: number,
  previous: number,
  values: readonly number[],
  numbers: readonly [number, number],
  operands: readonly BlockStrides[],
): SparseStep | null {
  const [a, b] = values as [number, number]
  const { add, sub, mul, linear } = JitAlgorithm
  if (op < add) return a === previous ? { op, access: JitAccess.full, numbers, operand: null } : null
  const swapped = b === previous && (op === add || op === mul)
  const other = swapped ? a : b
  if ((swapped ? b : a) !== previous || other === previous) return null
  if (other < 0) {
    // a number, which only unary steps have
    const x = numbers[-1 - other]!
    const factors = new Map<number, readonly [number, number]>([
      [add, [1, x]],
      [sub, [1, -x]],
      [mul, [x, 0]],
    ]).get(op)
    return factors === undefined ? null : { op: linear, access: JitAccess.full, numbers: factors, operand: null }
  }
  const strides = operands[other - 1]
  const access = strides === undefined ? undefined : accessOf(strides)
  return access === undefined ? null : { op, access, numbers, operand: other - 1 }
}
