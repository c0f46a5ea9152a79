import { editDistance } from '../../runtime/edit-distance.js'

/** What a mistyped name may stand for, as the end of a message; '' where no known one is like it. */
export function suggestion(name: string, known: readonly string[]): string {
  const limit = Math.min(3, Math.ceil(name.replace(/^-+/, '').length / 2) + 1)
  const distances = known.map((other) => ({
    other,
    distance: other.startsWith(name) && name.length > 2 ? 0 : editDistance(name, other, limit),
  }))
  const [best] = distances.filter(({ distance }) => distance < limit).sort((a, b) => a.distance - b.distance)
  return best === undefined ? '' : `; did you mean ${best.other}?`
}
