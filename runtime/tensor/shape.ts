import { check, PtliteError } from '../error.js'

/** A copy of `sizes`, if that is a list of integers of at least 0. Throws INVALID_ARGUMENT with `what` they are otherwise. */
export function sizesOf(sizes: unknown, what: string): readonly number[] {
  const copy: unknown[] = Array.isArray(sizes) ? Array.from(sizes as unknown[]) : [-1]
  if (copy.every((size) => Number.isSafeInteger(size) && (size as number) >= 0)) return copy as number[]
  throw new PtliteError('INVALID_ARGUMENT', `${what} must be an array of integers of at least 0`)
}

/** Elements of a tensor of these sizes. */
export function numelOf(shape: readonly number[]): number {
  let n = 1
  for (let i = 0; i < shape.length; i++) n *= shape[i]!
  return n
}

/** `[2, 3]`, for messages. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`
}

/** Row-major strides, in elements. */
export function contiguousStrides(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length)
  let step = 1
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = step
    step *= Math.max(shape[i]!, 1)
  }
  return strides
}

export function isContiguous(shape: readonly number[], strides: readonly number[]): boolean {
  let step = 1
  for (let i = shape.length - 1; i >= 0; i--) {
    const size = shape[i]!
    if (size === 0) return true
    if (size !== 1) {
      // nothing is in no order, whatever its strides are
      if (strides[i] !== step) return shape.includes(0)
      step *= size
    }
  }
  return true
}

/** Channels-last strides of an N C H W (or N C D H W) shape, in elements. */
export function channelsLastStrides(shape: readonly number[]): number[] {
  const rank = shape.length
  const strides = new Array<number>(rank)
  let step = 1
  for (let i = 0; i < rank; i++) {
    const d = i === 0 ? 1 : i === rank - 1 ? 0 : rank - i
    strides[d] = step
    step *= shape[d]!
  }
  return strides
}

/** Order of a channels-last tensor's dimensions, innermost first. */
const ORDER: Readonly<Record<number, readonly number[]>> = { 4: [1, 3, 2, 0], 5: [1, 4, 3, 2, 0] }

/** Whether the strides grow in channels-last order; shapes for which this says nothing (N x 1 x 1 x 1) count as not. */
export function isChannelsLastStrides(shape: readonly number[], strides: readonly number[], rank: number): boolean {
  if (shape.length !== rank || strides[1] === 0) return false
  let least = 0
  for (const d of ORDER[rank]!) {
    if (shape[d] === 0 || strides[d]! < least) return false
    if (d === 0 && least === strides[1]) return false
    least = strides[d]! * Math.max(shape[d]!, 1)
  }
  return true
}

/** Elements from the first to the last one that the view can touch, plus one; 0 for an empty view. */
export function extentOf(shape: readonly number[], strides: readonly number[]): number {
  let last = 0
  for (let i = 0; i < shape.length; i++) {
    if (shape[i] === 0) return 0
    last += (shape[i]! - 1) * strides[i]!
  }
  return last + 1
}

/** NumPy broadcasting. Throws INVALID_ARGUMENT naming both shapes. */
export function broadcastShapes(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length)
  const out = new Array<number>(rank)
  for (let i = 1; i <= rank; i++) {
    const x = i <= a.length ? a[a.length - i]! : 1
    const y = i <= b.length ? b[b.length - i]! : 1
    check(x === y || x === 1 || y === 1, () => `shapes ${shapeText(a)} and ${shapeText(b)} cannot be broadcast together`)
    out[rank - i] = x === 1 ? y : x
  }
  return out
}

/** A dimension index in 0..rank-1; negative ones count from the end. A 0-d tensor has dimension 0 and -1. */
export function wrapDim(dim: number, rank: number): number {
  const n = Math.max(rank, 1)
  check(Number.isInteger(dim) && dim >= -n && dim < n, () => `dimension out of range: expected ${-n} to ${n - 1}, found ${dim}`)
  return dim < 0 ? dim + n : dim
}

/** Whether two shapes have the same sizes. */
export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Where the elements of a tensor lie in its storage. */
interface Layout {
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly offset: number
}

/** True where two tensors have the same elements of a storage in the same order. */
export function sameLayout(a: Layout, b: Layout): boolean {
  return a.offset === b.offset && sameShape(a.shape, b.shape) && sameShape(a.strides, b.strides)
}

/** Of a sparse tensor, where elements are wanted that lie in memory. */
export function refuseSparse(shape: readonly number[]): never {
  throw new PtliteError('INVALID_ARGUMENT', `expected a dense tensor, found a sparse one of shape ${shapeText(shape)}`)
}
