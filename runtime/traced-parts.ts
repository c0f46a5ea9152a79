import * as features from './features.js'

/** Parts of the runtime that selective builds can be without, and whether they were in use since `resetUsed`: traces name those that were. */
const used = {
  complex: false,
  sparse: false,
  writes: false,
  halves: false,
  scalars: false,
  arguments: false,
  defaults: false,
}

export type UsedPart = keyof typeof used

export const USED_PARTS = Object.keys(used) as readonly UsedPart[]

/** To be called where such a part begins. */
export function noteUse(part: UsedPart): void {
  if (features.compiler) used[part] = true
}

export function resetUsed(): void {
  for (const part of USED_PARTS) used[part] = false
}

export function partsInUse(): UsedPart[] {
  return USED_PARTS.filter((part) => used[part])
}
