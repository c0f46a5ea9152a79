import { check } from '../error.js'
import { MemoryFormat } from './options.js'
import { channelsLastStrides, contiguousStrides, isChannelsLastStrides, isContiguous, numelOf, sameShape, shapeText } from './shape.js'

/** A copy of `shape` with its one -1 replaced so that it has `numel` elements. Throws INVALID_ARGUMENT. */
export function inferSize(shape: readonly number[], numel: number): number[] {
  const out = new Array<number>(shape.length)
  let known = 1
  let unknown = -1
  for (let i = 0; i < shape.length; i++) {
    const size = shape[i]!
    out[i] = size
    if (size === -1) {
      check(unknown < 0, () => `expected at most one inferred dimension, found shape ${shapeText(shape)}`)
      unknown = i
    } else {
      check(size >= 0, () => `expected sizes of at least 0, or -1, found shape ${shapeText(shape)}`)
      known *= size
    }
  }
  if (unknown >= 0 && known > 0 && numel % known === 0) {
    out[unknown] = numel / known
    return out
  }
  check(known > 0 || unknown < 0, () => `a dimension of shape ${shapeText(shape)} cannot be inferred: it could have any size`)
  check(unknown < 0 && known === numel, () => `shape ${shapeText(shape)} does not fit a tensor of ${numel} elements`)
  return out
}

/**
 * Strides with which the same memory reads as `target`, or null where only a copy can have that shape.
 * Dimensions that follow each other in memory form a run; each target dimension must fall inside one run.
 */
export function viewStrides(shape: readonly number[], strides: readonly number[], target: readonly number[]): number[] | null {
  const rank = shape.length
  if (numelOf(shape) === 0) return sameShape(shape, target) ? [...strides] : contiguousStrides(target)
  const out = new Array<number>(target.length)
  let next = target.length - 1
  let base = rank > 0 ? strides[rank - 1]! : 1
  let run = 1
  for (let d = rank - 1; d >= 0; d--) {
    run *= shape[d]!
    if (d > 0 && (shape[d - 1] === 1 || strides[d - 1] === run * base)) continue
    let covered = 1
    while (next >= 0 && (covered < run || target[next] === 1)) {
      out[next] = covered * base
      covered *= target[next--]!
    }
    if (covered !== run) return null
    if (d > 0) {
      base = strides[d - 1]!
      run = 1
    }
  }
  // a 0-d tensor has no run
  for (; rank === 0 && next >= 0; next--) out[next] = 1
  return next === -1 ? out : null
}

/** Whether the elements lie in memory as this memory format lays out this shape. */
export function isContiguousAs(shape: readonly number[], strides: readonly number[], format: number): boolean {
  if (format === MemoryFormat.channelsLast ? shape.length !== 4 : format === MemoryFormat.channelsLast3d && shape.length !== 5) return false
  if (format !== MemoryFormat.channelsLast && format !== MemoryFormat.channelsLast3d) return isContiguous(shape, strides)
  const expected = channelsLastStrides(shape)
  for (let d = 0; d < shape.length; d++) if (shape[d] !== 1 && strides[d] !== expected[d]) return false
  return true
}

/** Whether an image's elements lie in memory with channels last. */
export function isChannelsLast(shape: readonly number[], strides: readonly number[]): boolean {
  return shape.length === 4 && isContiguousAs(shape, strides, MemoryFormat.channelsLast)
}

/** Strides of a new tensor in this memory format. Throws INVALID_ARGUMENT where the rank does not fit the format. */
export function stridesFor(shape: readonly number[], format: number): number[] {
  if (format === MemoryFormat.contiguous) return contiguousStrides(shape)
  check(
    format === MemoryFormat.channelsLast || format === MemoryFormat.channelsLast3d,
    () => `memory format ${format} has no strides of its own`,
  )
  const rank = format === MemoryFormat.channelsLast ? 4 : 5
  check(shape.length === rank, () => `expected a shape of ${rank} dimensions for this memory format, found ${shapeText(shape)}`)
  return channelsLastStrides(shape)
}

/** The memory format that strides suggest (suggest_memory_format): rows where they say nothing. */
export function suggestedFormat(shape: readonly number[], strides: readonly number[]): number {
  if (isChannelsLastStrides(shape, strides, 4)) return MemoryFormat.channelsLast
  return isChannelsLastStrides(shape, strides, 5) ? MemoryFormat.channelsLast3d : MemoryFormat.contiguous
}

/** True where no two indices share memory and none lies between that no index reaches. */
export function isDense(shape: readonly number[], strides: readonly number[]): boolean {
  if (shape.includes(0)) return true
  const dims = shape.map((_, d) => d).filter((d) => shape[d]! !== 1)
  dims.sort((a, b) => strides[a]! - strides[b]!)
  let step = 1
  for (const d of dims) {
    if (strides[d] !== step) return false
    step *= shape[d]!
  }
  return true
}
