/** What a kernel clamps its results to. */
export interface Clamp {
  readonly lo: number
  readonly hi: number
}

/** The limits [min, max]; null where they are infinite, and nothing is clamped. */
export function limitsOf(min: number, max: number): Clamp | null {
  return min === -Infinity && max === Infinity ? null : { lo: min, hi: max }
}

/** The fields of frames that clamp. */
export function clampFields(limits: Clamp | null): { clamped: number; lo: number; hi: number } {
  return { clamped: limits === null ? 0 : 1, lo: limits?.lo ?? 0, hi: limits?.hi ?? 0 }
}
