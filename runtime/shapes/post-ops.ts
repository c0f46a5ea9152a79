import { check } from '../error.js'
import { JitAlgorithm } from '../native/generated/kernels.js'
import { DType } from '../tensor/dtype.js'
import { stridesAs } from '../tensor/iterator.js'
import type { Tensor } from '../tensor/tensor.js'
import { Limit } from '../native/generated/numbers.js'

/** Element-wise steps on the result of a dense kernel: value 0 is the result, then come `operands`, then the results of earlier steps. */
export interface PostOps {
  readonly operands: readonly Tensor[]
  /** JitAlgorithm of each step. */
  readonly ops: readonly number[]
  /** Two per step: values, or -1 and -2 for the step's own numbers. */
  readonly values: readonly number[]
  /** Two per step. */
  readonly numbers: readonly number[]
}

/** How a kernel numbers its output: dimensions [0, row) are its batches, [row, column) its rows, the others its columns. */
export interface BlockAxes {
  readonly row: number
  readonly column: number
}

/** Elements between neighbours in each direction. */
export interface BlockStrides {
  readonly batch: number
  readonly row: number
  readonly col: number
}

/**
 * An operand's distances, from its strides for the shape of the output; undefined where it has none: each group of dimensions must be
 * walked with one stride, the columns with 0 or 1.
 */
export function blockStrides(shape: readonly number[], strides: readonly number[], { row, column }: BlockAxes): BlockStrides | undefined {
  const group = (from: number, to: number): number | undefined => {
    let stride = 0
    let next: number | undefined
    for (let d = to - 1; d >= from; d--) {
      if (shape[d] === 1) continue
      if (next === undefined) stride = strides[d]!
      else if (strides[d] !== next) return undefined
      next = strides[d]! * shape[d]!
    }
    return stride
  }
  const found = [group(0, row), group(row, column), group(column, shape.length)]
  const [batch, rows, col] = found
  return batch === undefined || rows === undefined || (col !== 0 && col !== 1) ? undefined : { batch, row: rows, col }
}

/** The strides of a tensor's shape for another one that it is broadcast to; undefined where it cannot be. */
export function broadcastStrides(
  shape: readonly number[],
  strides: readonly number[],
  to: readonly number[],
): readonly number[] | undefined {
  const lead = to.length - shape.length
  if (lead < 0 || shape.some((size, d) => size !== 1 && size !== to[d + lead])) return undefined
  return to.map((_, d) => (d < lead || shape[d - lead] === 1 ? 0 : strides[d - lead]!))
}

/** The arguments behind those of an operator's own: `PostOps`, one by one. */
export type StepArguments = [operands: Tensor[], ops: number[], values: number[], numbers: number[]]

/** The steps behind an operator's own result, which is the first of their inputs, checked as `checkSteps` does; null for none. */
export function postOpsOf(operator: string, ...[operands, ops, values, numbers]: StepArguments): PostOps | null {
  if (ops.length === 0) return null
  const steps = { operands, ops, values, numbers }
  checkSteps(operator, 1 + operands.length, steps)
  return steps
}

/** Throws unless the steps are ones that kernels can carry out on float32. */
export function checkSteps(operator: string, inputs: number, { ops, values, numbers }: Omit<PostOps, 'operands'>): void {
  check(
    values.length === 2 * ops.length && numbers.length === 2 * ops.length,
    () => `${operator}: expected two operands and two numbers per step`,
  )
  ops.forEach((op, i) => {
    const isFloat = op >= 0 && op <= JitAlgorithm.bits_and_not && (op < JitAlgorithm.quantize_u8 || op > JitAlgorithm.int8_lut)
    check(isFloat, () => `${operator}: no algorithm ${op} on floats`)
    const isBinary = op >= JitAlgorithm.add
    for (const operand of values.slice(2 * i, 2 * i + (isBinary ? 2 : 1))) {
      check(operand >= (isBinary ? -2 : 0) && operand < inputs + i, () => `${operator}: step ${i} has no operand ${operand}`)
    }
  })
}

/** Whether a kernel can apply the steps to its float32 output of this shape. */
export function takesPostOps({ operands, ops }: PostOps, shape: readonly number[], axes: BlockAxes): boolean {
  if (ops.length > Limit.POST_STEPS || operands.length > Limit.POST_OPERANDS) return false
  return operands.every((t) => {
    const strides = t.type === DType.float32 ? broadcastStrides(t.shape, t.strides, shape) : undefined
    return strides !== undefined && blockStrides(shape, strides, axes) !== undefined
  })
}

/** The fields of frames that start with `post_`, for steps that `takesPostOps` has approved. */
export function postFields({ operands, ops, values, numbers }: PostOps, shape: readonly number[], axes: BlockAxes): PostFields {
  const strides = operands.map((t) => blockStrides(shape, stridesAs(t, [...shape]), axes)!)
  const even = <T>(list: readonly T[]): T[] => list.filter((_, i) => i % 2 === 0)
  const odd = <T>(list: readonly T[]): T[] => list.filter((_, i) => i % 2 === 1)
  return {
    post_steps: ops.length,
    post_inputs: 1 + operands.length,
    post_op: ops,
    post_a: even(values),
    post_b: odd(values),
    post_p0: even(numbers),
    post_p1: odd(numbers),
    post_in: operands.map((t) => t.address),
    post_batch: strides.map((s) => s.batch),
    post_row: strides.map((s) => s.row),
    post_col: strides.map((s) => s.col),
    post_code: 0,
  }
}

export interface PostFields {
  readonly post_steps: number
  readonly post_inputs: number
  readonly post_op: readonly number[]
  readonly post_a: readonly number[]
  readonly post_b: readonly number[]
  readonly post_p0: readonly number[]
  readonly post_p1: readonly number[]
  readonly post_in: readonly number[]
  readonly post_batch: readonly number[]
  readonly post_row: readonly number[]
  readonly post_col: readonly number[]
  readonly post_code: number
}
