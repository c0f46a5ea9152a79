import { check } from '../error.js'
import type { DType } from './dtype.js'
import { preparedOut } from './out.js'
import type { Operand } from './promote.js'
import { channelsLastStrides, contiguousStrides, sameShape } from './shape.js'
import { emptyStrided, Tensor } from './tensor.js'
import { isChannelsLast, isDense } from './view-strides.js'

/** Dimensions that a kernel frame has room for, after merging. */
export const MAX_LOOP_DIMS = 12

/**
 * How a kernel walks its operands: dimensions innermost first, merged where every operand allows it, strides in
 * elements, 0 where an operand is broadcast. ndim 0 says that every operand is `n` dense elements.
 * There is one per thread, overwritten by the next `planLoop`; a frame is filled from it at once.
 */
export interface Loop {
  ndim: number
  n: number
  readonly sizes: number[]
  /** One row per operand, the written one first. */
  readonly strides: number[][]
}

const loop: Loop = { ndim: 0, n: 0, sizes: [], strides: [[], [], [], [], []] }
const dense: Loop = { ndim: 0, n: 0, sizes: [], strides: [[], [], [], [], []] }
const order: number[] = []
const rows: number[][] = [[], [], [], [], []]

/** Strides of `t` seen as `shape`: 0 along dimensions where it is repeated. `shape` must be a broadcast of its own. */
export function stridesAs(t: Tensor, shape: readonly number[], into: number[] = []): number[] {
  const rank = shape.length
  const lead = rank - t.shape.length
  into.length = rank
  for (let d = 0; d < rank; d++) into[d] = d < lead || (t.shape[d - lead] === 1 && shape[d] !== 1) ? 0 : t.strides[d - lead]!
  return into
}

/**
 * Dimensions in the order of memory, innermost first, as TensorIterator orders them: by the strides of the first
 * operand that tells two dimensions apart; a broadcast dimension tells nothing.
 */
function orderDims(shape: readonly number[], strides: readonly (readonly number[])[], count: number): void {
  const rank = shape.length
  order.length = rank
  for (let i = 0; i < rank; i++) order[i] = rank - 1 - i
  for (let i = 1; i < rank; i++) {
    let at = i
    for (let j = i - 1; j >= 0; j--) {
      const sign = compareDims(order[j]!, order[at]!, shape, strides, count)
      if (sign > 0) {
        const d = order[j]!
        order[j] = order[at]!
        order[at] = d
        at = j
      } else if (sign < 0) break
    }
  }
}

/** Above 0 where dimension `a` lies outside of `b` in memory, below where inside, 0 where nothing tells. */
function compareDims(a: number, b: number, shape: readonly number[], strides: readonly (readonly number[])[], count: number): number {
  for (let k = 0; k < count; k++) {
    const x = strides[k]![a]!
    const y = strides[k]![b]!
    if (x === 0 || y === 0) continue
    if (x !== y) return x < y ? -1 : 1
    if (shape[a]! > shape[b]!) return 1
  }
  return 0
}

/** The walk over `n` elements that lie densely in every operand; overwritten by the next `denseLoop`. */
export function denseLoop(n: number): Loop {
  dense.n = n
  return dense
}

/**
 * Plans a walk of `operands` (the written one first, at most five) over `shape`, to which each is broadcast.
 * Throws INVALID_ARGUMENT where more than 12 dimensions are left after merging.
 */
export function planLoop(shape: readonly number[], operands: readonly Tensor[]): Loop {
  const count = operands.length
  for (let k = 0; k < count; k++) stridesAs(operands[k]!, shape, rows[k])
  return planStrides(shape, rows, count)
}

/** As planLoop, from rows of strides that fit `shape`. */
export function planStrides(shape: readonly number[], strides: readonly (readonly number[])[], count: number): Loop {
  orderDims(shape, strides, count)
  let ndim = 0
  let n = 1
  const { sizes } = loop
  clear(count)
  for (const d of order) {
    const size = shape[d]!
    n *= size
    if (size === 1) continue
    if (ndim > 0 && mergeable(ndim - 1, d, strides, count)) {
      sizes[ndim - 1]! *= size
      continue
    }
    sizes[ndim] = size
    for (let k = 0; k < count; k++) loop.strides[k]![ndim] = strides[k]![d]!
    ndim++
  }
  loop.n = n
  loop.ndim = ndim
  if (n <= 1 || ndim === 0 || (ndim === 1 && allOnes(count))) clear(count)
  check(ndim <= MAX_LOOP_DIMS, () => `expected strides that merge to at most ${MAX_LOOP_DIMS} dimensions, found ${ndim}`)
  return loop
}

function mergeable(inner: number, d: number, strides: readonly (readonly number[])[], count: number): boolean {
  const size = loop.sizes[inner]!
  for (let k = 0; k < count; k++) if (strides[k]![d]! !== loop.strides[k]![inner]! * size) return false
  return true
}

function allOnes(count: number): boolean {
  for (let k = 0; k < count; k++) if (loop.strides[k]![0] !== 1) return false
  return true
}

function clear(count: number): void {
  loop.ndim = 0
  loop.sizes.length = 0
  for (let k = 0; k < count; k++) loop.strides[k]!.length = 0
}

/**
 * Strides for a result over `shape` that lies in memory in the order of its inputs, as TensorIterator chooses them: numbers count as tensors
 * without dimensions.
 */
export function resultStrides(shape: readonly number[], inputs: readonly Operand[]): readonly number[] {
  const alike = stridesOfAlike(shape, inputs)
  return (
    alike ??
    strideOrder(
      shape,
      inputs.flatMap((t) => (t instanceof Tensor ? [stridesAs(t, shape)] : [])),
    )
  )
}

/** As resultStrides, of inputs with these strides over `shape`. */
export function strideOrder(shape: readonly number[], strides: readonly (readonly number[])[]): readonly number[] {
  orderDims(shape, strides, strides.length)
  const rank = shape.length
  if (order.every((d, i) => d === rank - 1 - i)) return contiguousStrides(shape)
  const result = new Array<number>(rank)
  let step = 1
  for (const d of order) {
    result[d] = step
    step *= shape[d]!
  }
  return result
}

/** Strides of a result whose inputs all have its shape and lie in memory in one way; null for others. */
function stridesOfAlike(shape: readonly number[], inputs: readonly Operand[]): readonly number[] | null {
  let first: Tensor | null = null
  let contiguous = true
  let channelsLast = true
  let dense = true
  for (const t of inputs) {
    if (!(t instanceof Tensor) || !sameShape(t.shape, shape)) return null
    first ??= t
    contiguous &&= t.isContiguous
    channelsLast &&= isChannelsLast(t.shape, t.strides)
    dense &&= sameShape(t.strides, first.strides) && isDense(t.shape, t.strides)
  }
  if (contiguous) return contiguousStrides(shape)
  if (channelsLast) return channelsLastStrides(shape)
  return dense && first !== null ? first.strides : null
}

/** Strides for a copy of `t`, which has them where it is dense, and else the order of its dimensions (preserve_format). */
export function preservedStrides(t: Tensor): readonly number[] {
  const { shape, strides } = t
  if (t.isContiguous || isDense(shape, strides)) return strides
  orderDims(shape, [strides], 1)
  const result = new Array<number>(shape.length)
  let step = 1
  for (const d of order) {
    result[d] = step
    step *= Math.max(shape[d]!, 1)
  }
  return result
}

/** A new tensor of `t`'s shape that lies in memory as `t` does. */
export function emptyLike(t: Tensor, type: DType = t.type): Tensor {
  return emptyStrided(t.shape, preservedStrides(t), type, type === t.type ? t.quant : null)
}

/**
 * The tensor that an operator writes: a new one, `out` after a resize, or `out` as it is where it is an operand
 * (in place), whose shape must then be the result's. Throws where the result cannot be cast to it, or where it
 * shares memory with itself or in part with an input.
 */
export function resultTensor(out: Tensor | undefined, shape: readonly number[], type: DType, inputs: readonly Operand[]): Tensor {
  if (out === undefined) return emptyStrided(shape, resultStrides(shape, inputs), type)
  return preparedOut(out, shape, () => resultStrides(shape, inputs), type, inputs)
}
