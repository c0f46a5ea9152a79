import type { Random } from '../random.js'

/** Ways to change one item of a list that any list has; each format has more. */
export const COMMON_CHANGES = 4

/** Takes the item away (0), puts another one in front (1) or in its place (2), or exchanges it with one of the list (3). */
export function changeItem<T>(items: T[], at: number, change: number, random: Random, other: () => T): void {
  switch (change) {
    case 0:
      items.splice(at, 1)
      break
    case 1:
      items.splice(at, 0, other())
      break
    case 2:
      if (items.length > 0) items[at] = other()
      break
    case 3: {
      const second = random.below(items.length)
      if (items.length > 0) [items[at], items[second]] = [items[second]!, items[at]!]
      break
    }
  }
}
