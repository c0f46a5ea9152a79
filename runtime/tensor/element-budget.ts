import { pace } from '../pace.js'
import { CONTAINER_ELEMENTS, DEFAULT_ELEMENTS, type Limited, limitError } from '../limits.js'

/**
 * Bounds what values of programs take of JavaScript's memory, which no error follows that could be caught: whoever makes or lengthens a list, dict or
 * string says so first. What is made is added up; once that is as much as may be alive, what is alive is counted, and from there it goes on. So
 * a step costs next to nothing, and the limit is exceeded by a quarter at most.
 */
export interface ElementBudget {
  /** Elements that may be made before those alive are counted. */
  room: number
  readonly limit: number
  readonly who: Limited
  /** Elements that are alive, or more than `most`. */
  count(most: number): number
}

/** Outside of runs nothing is counted but what is made at once. */
const OUTSIDE: ElementBudget = { room: DEFAULT_ELEMENTS, limit: DEFAULT_ELEMENTS, who: 'the call', count: () => 0 }
/** Of an operator that is called by itself: whatever it makes is taken for alive. */
const SINGLE: ElementBudget = { room: DEFAULT_ELEMENTS, limit: DEFAULT_ELEMENTS, who: 'the operator', count: () => Infinity }

let current: ElementBudget = OUTSIDE

/** Makes `elementBudget` the current one; null for that outside of runs. Returns the one before, to be put back when done. */
export function enterElementBudget(elementBudget: ElementBudget | null): ElementBudget {
  const before = current
  current = elementBudget ?? OUTSIDE
  return before
}

/** Begins an operator that is called outside of runs, or goes on with the elementBudget that there is. Returns that, to be put back when done. */
export function enterOperator(): ElementBudget {
  const before = current
  if (before === OUTSIDE) {
    SINGLE.room = SINGLE.limit
    current = SINGLE
  }
  return before
}

/** So many elements are about to be made. Throws LIMIT_EXCEEDED where they are too many. */
export function grow(elements: number): void {
  pace(elements)
  if (!((current.room -= elements) >= 0)) overgrown(elements)
}

/** As grow, for a new container of so many elements. */
export function growBy(elements: number): void {
  grow(elements + CONTAINER_ELEMENTS)
}

function overgrown(elements: number): void {
  const { limit, who } = current
  const alive = current.count(limit) + elements
  if (!(alive <= limit)) {
    current.room = 0
    throw limitError(who, 'elements', limit)
  }
  current.room = Math.max(limit - alive, Math.floor(limit / 4))
}
