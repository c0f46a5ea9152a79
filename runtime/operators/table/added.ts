import * as features from '../../features.js'

/** Custom operators that the built-in table does not name, with their numbers. */
const added = new Map<string, number>()

export function add(qualifiedName: string, index: number): void {
  added.set(qualifiedName, index)
}

export function addedCount(): number {
  return features.customOperators ? added.size : 0
}

export function addedIndex(qualifiedName: string): number | undefined {
  return features.customOperators && added.size > 0 ? added.get(qualifiedName) : undefined
}

/** The numbers of those whose names fit. */
export function addedWhere(fits: (qualifiedName: string) => boolean): number[] {
  if (!features.customOperators) return []
  return [...added].flatMap(([qualifiedName, index]) => (fits(qualifiedName) ? [index] : []))
}
