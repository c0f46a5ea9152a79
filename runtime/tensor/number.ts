import { check } from '../error.js'

/** A number that a caller gives, who may be one without types. */
export function numberOf(value: unknown): number {
  check(typeof value === 'number' || typeof value === 'bigint', () => `expected a number, found ${value === null ? 'None' : typeof value}`)
  return Number(value)
}
