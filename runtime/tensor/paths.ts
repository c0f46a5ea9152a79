import { Tensor } from './tensor.js'
import { Tuple, type Value } from './value.js'

/** Lists, tuples and dicts in each other that anybody computes with are less deep. */
export const MAX_LEVELS = 64
const MAX_ITEMS = 2 ** 20

/**
 * True where code may walk the values by recursion, and come to what is shared each time anew: lists, tuples and dicts are nested no more than
 * 64 deep, and there are no more than 2^20 ways to their items.
 */
export function hasFewPaths(values: readonly Value[]): boolean {
  let left = MAX_ITEMS
  const visit = (items: Iterable<Value>, levels: number): boolean => {
    for (const item of items) {
      if (--left < 0) return false
      if (typeof item !== 'object' || item === null || item instanceof Tensor) continue
      const inner = Array.isArray(item) ? item : item instanceof Tuple ? item.items : item instanceof Map ? item.values() : null
      if (inner !== null && (levels === 0 || !visit(inner, levels - 1))) return false
    }
    return true
  }
  return visit(values, MAX_LEVELS)
}
