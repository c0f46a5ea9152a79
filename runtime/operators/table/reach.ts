/**
 * The parts of the built package that the operator at a position of the table may come to. Only browsers have to wait for parts: their build
 * (scripts/web) writes this file anew.
 */
export function partsAt(_position: number): readonly string[] {
  return []
}
