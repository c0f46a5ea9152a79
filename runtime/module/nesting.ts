import { CustomObject, ScriptObject, Tuple, type Value } from '../tensor/value.js'
import { damaged } from './file-error.js'

/** Deeper than any program nests its values, and shallow enough to walk by recursion. */
const MAX_DEPTH = 1000

/**
 * Throws INVALID_FILE where a value contains itself or nests deeper than MAX_DEPTH, neither of which PyTorch can write.
 * Code that walks values after this may recurse.
 */
export function checkNesting(roots: readonly Value[], label: string): void {
  // levels of containers below each, itself included; 0 while it is being looked at
  const heights = new Map<object, number>()
  for (const root of roots) walk(root, heights, label)
}

interface Visit {
  readonly value: object
  readonly children: readonly Value[]
  next: number
  height: number
}

function walk(root: Value, heights: Map<object, number>, label: string): void {
  const open: Visit[] = []
  const enter = (value: Value): number => {
    const children = childrenOf(value)
    if (children === undefined) return 0
    const known = heights.get(value as object)
    if (known === 0) throw damaged(`${label}: a value contains itself`)
    if (known !== undefined) return known
    heights.set(value as object, 0)
    open.push({ value: value as object, children, next: 0, height: 0 })
    return 0
  }
  enter(root)
  while (open.length > 0) {
    const visit = open[open.length - 1]!
    if (visit.next < visit.children.length) {
      visit.height = Math.max(visit.height, enter(visit.children[visit.next++]!))
      continue
    }
    open.pop()
    const height = visit.height + 1
    if (height > MAX_DEPTH) throw damaged(`${label}: values are nested more than ${MAX_DEPTH} deep`)
    heights.set(visit.value, height)
    const parent = open[open.length - 1]
    if (parent !== undefined) parent.height = Math.max(parent.height, height)
  }
}

function childrenOf(value: Value): readonly Value[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return value
  if (value instanceof Tuple) return value.items
  if (value instanceof Map) return [...value.values()]
  if (value instanceof ScriptObject) return value.slots
  if (value instanceof CustomObject) return [value.state]
  return undefined
}
