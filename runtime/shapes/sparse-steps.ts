import { JitAccess, JitAlgorithm } from '../native/generated/kernels.js'
import { DType } from '../tensor/dtype.js'
import type { Tensor } from '../tensor/tensor.js'
import { blockStrides, broadcastStrides, type PostOps } from './post-ops.js'

/** Dimensions of a block-sparse result: [..., n], [batch, n, ...pixels], or [batch, n / 16, ...pixels, 16]. */
export type SparseOrder = 'rows' | 'channels' | 'blocks'

/** How a block-sparse kernel finds the second operand of a step, in elements. */
export interface SparseOperand {
  /** JitAccess: full, row (a value per output channel) or scalar. */
  readonly access: number
  /** From row to row, or from channel to channel in the order `channels`. */
  readonly stride: number
  /** From matrix to matrix. */
  readonly batch: number
  /** From 16 channels of a row to the next. */
  readonly group: number
}

/** One of the steps that a block-sparse kernel injects behind its sums, on the running value alone or with an operand. */
export interface SparseStep {
  /** JitAlgorithm. */
  readonly op: number
  readonly access: number
  readonly numbers: readonly [number, number]
  /** Index among the operands; null for unary steps. */
  readonly operand: number | null
}

/** What is injected behind the sums, the limits and the residual. */
export interface SparseChain {
  readonly steps: readonly SparseStep[]
  readonly operands: readonly Tensor[]
  /** One per operand. */
  readonly places: readonly SparseOperand[]
}
export const NO_CHAIN: SparseChain = { steps: [], operands: [], places: [] }

/** Two of the eight steps that the frames have room for are the residual and the limits. */
const MAX_STEPS = 6

/** An operand that is broadcast to a result of this shape by these strides; undefined where the kernel cannot read it. */
export function sparseOperand(order: SparseOrder, shape: readonly number[], strides: readonly number[]): SparseOperand | undefined {
  const { full, row, scalar } = JitAccess
  switch (order) {
    case 'rows': {
      const s = blockStrides(shape, strides, { row: 0, column: shape.length - 1 })
      if (s === undefined || (s.col === 0 && s.row !== 0)) return undefined
      return { access: s.col === 0 ? scalar : s.row === 0 ? row : full, stride: s.row, batch: 0, group: 16 }
    }
    case 'channels': {
      const s = blockStrides(shape, strides, { row: 1, column: 2 })
      if (s === undefined || (s.col === 0 && s.row !== 0 && s.row !== 1)) return undefined
      return { access: s.col === 1 ? full : s.row === 1 ? row : scalar, stride: s.row, batch: s.batch, group: 16 }
    }
    case 'blocks': {
      const s = blockStrides(shape.slice(1), strides.slice(1), { row: 1, column: shape.length - 2 })
      if (s === undefined || (s.col === 0 && (s.row !== 0 || s.batch !== 0))) return undefined
      const access = s.col === 0 ? scalar : s.row === 0 && s.batch === 16 ? row : full
      return { access, stride: s.row, batch: shape[0] === 1 ? 0 : strides[0]!, group: s.batch }
    }
  }
}

/** Steps as a chain in which each takes the result of the one before; null where they are none, or an operand cannot be read. */
export function chainOf(
  { ops, values, numbers }: Omit<PostOps, 'operands'>,
  operands: readonly (SparseOperand | undefined)[],
): readonly SparseStep[] | null {
  if (ops.length > MAX_STEPS) return null
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
  operands: readonly (SparseOperand | undefined)[],
): SparseStep | null {
  const [a, b] = values as [number, number]
  const { add, sub, mul, linear } = JitAlgorithm
  if (op < add) return a === previous ? { op, access: JitAccess.full, numbers, operand: null } : null
  const swapped = b === previous && (op === add || op === mul)
  const other = swapped ? a : b
  if ((swapped ? b : a) !== previous || other === previous) return null
  if (other < 0) {
    // a number, which only unary steps have; a product and -0 is the product, of either sign
    const x = numbers[-1 - other]!
    const factors = new Map<number, readonly [number, number]>([
      [add, [1, x]],
      [sub, [1, -x]],
      [mul, [x, -0]],
    ]).get(op)
    return factors === undefined ? null : { op: linear, access: JitAccess.full, numbers: factors, operand: null }
  }
  const access = operands[other - 1]?.access
  return access === undefined ? null : { op, access, numbers, operand: other - 1 }
}

/** The steps as what a kernel injects behind a result of this shape; null where it cannot. */
export function injected(post: PostOps, order: SparseOrder, shape: readonly number[]): SparseChain | null {
  const places = post.operands.map((t) => {
    const strides = t.type === DType.float32 ? broadcastStrides(t.shape, t.strides, shape) : undefined
    return strides === undefined ? undefined : sparseOperand(order, shape, strides)
  })
  const steps = chainOf(post, places)
  return steps === null ? null : { steps, operands: post.operands, places: places as SparseOperand[] }
}
