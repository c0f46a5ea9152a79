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

/** Whether each element has its own place and no place is left out, in any order of the dimensions. */
export function isNonOverlappingAndDense(shape: readonly number[], strides: readonly number[]): boolean {
  if (shape.length === 1) return shape[0]! < 2 || strides[0] === 1
  const byStride = shape.map((_, d) => d).filter((d) => shape[d] !== 1)
  // a dimension without elements is taken last
  byStride.sort((a, b) => (shape[a]! < 2 ? 1 : shape[b]! < 2 ? -1 : strides[a]! - strides[b]!))
  let step = 1
  for (const d of byStride) {
    if (shape[d]! < 2) return true
    if (strides[d] !== step) return false
    step *= shape[d]!
  }
  return true
}
