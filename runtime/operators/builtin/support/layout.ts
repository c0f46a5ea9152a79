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
