import { elementsOf } from '../interpreter/lifetime.js'
import type { Value } from '../tensor/value.js'
import { damaged } from './file-error.js'

/** Deeper than any program nests its values, and shallow enough to walk by recursion. */
const MAX_DEPTH = 1000

/**
 * Throws INVALID_FILE where a value contains itself or nests deeper than MAX_DEPTH, neither of which PyTorch can write.
 * Code that walks values after this may recurse.
 */
export function checkNesting(roots: readonly Value[]): void {
  // levels of containers below each, itself included; 0 while it is being looked at
  const heights = new Map<Value, number>()
  const visit = (value: Value, depth: number): number => {
    const elements = elementsOf(value)
    if (elements === null) return 0
    const known = heights.get(value)
    if (known === 0) throw damaged('a value contains itself')
    if (known !== undefined) return known
    heights.set(value, 0)
    let height = 1
    // values below this depth are not entered, so that recursion ends
    if (depth < MAX_DEPTH) for (const element of elements) height = Math.max(height, visit(element, depth + 1) + 1)
    if (depth === MAX_DEPTH || height > MAX_DEPTH) throw damaged(`values are nested more than ${MAX_DEPTH} deep`)
    heights.set(value, height)
    return height
  }
  for (const root of roots) visit(root, 0)
}
