import { elementsOf } from '../../program/reach.js'
import { pace } from '../../runtime/pace.js'
import type { Value } from '../../runtime/tensor/value.js'
import { damaged } from '../../program/file-error.js'

/** Deeper than any program nests its values. */
const MAX_DEPTH = 1000

/** A container that is being looked at. */
interface Open {
  readonly value: Value
  readonly elements: readonly Value[]
  next: number
  /** Levels of containers below it, itself included. */
  height: number
}

/**
 * Throws INVALID_FILE where a value contains itself or nests deeper than MAX_DEPTH, neither of which PyTorch can write. Each container is looked
 * at once.
 */
export function checkNesting(roots: readonly Value[]): void {
  // 0 for those that are being looked at
  const heights = new Map<Value, number>()
  const open: Open[] = []
  const enter = (value: Value): number => {
    const known = heights.get(value)
    if (known === 0) throw damaged('a value contains itself')
    if (known !== undefined) return known
    const elements = elementsOf(value)
    if (elements === null) return 0
    if (open.length >= MAX_DEPTH) throw damaged(`values are nested more than ${MAX_DEPTH} deep`)
    heights.set(value, 0)
    open.push({ value, elements, next: 0, height: 1 })
    return 0
  }
  const raise = (holder: Open | undefined, height: number): void => {
    if (holder === undefined || height < holder.height) return
    holder.height = height + 1
    if (holder.height > MAX_DEPTH) throw damaged(`values are nested more than ${MAX_DEPTH} deep`)
  }
  for (const root of roots) {
    enter(root)
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      pace(4)
      if (top.next < top.elements.length) raise(top, enter(top.elements[top.next++]!))
      else {
        open.pop()
        heights.set(top.value, top.height)
        raise(open.at(-1), top.height)
      }
    }
  }
}
