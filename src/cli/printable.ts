import { PtliteError } from '../../runtime/error.js'
import type { Output } from '../index.js'

/** Lists in lists are printed so deep. */
const MAX_LEVELS = 500
/** What is shared is printed each time. */
const MAX_ITEMS = 2 ** 22

/** Throws INVALID_ARGUMENT for a result that has no text of a length that anybody reads: one in itself, nested very deep, or shared too often. */
export function checkPrintable(result: Output): void {
  let left = MAX_ITEMS
  const visit = (value: unknown, levels: number): void => {
    if (--left < 0 || levels < 0)
      throw new PtliteError(
        'INVALID_ARGUMENT',
        'the result cannot be printed: its lists are in themselves, nested too deep or shared too often',
      )
    if (Array.isArray(value)) for (const item of value as unknown[]) visit(item, levels - 1)
    else if (value instanceof Map) for (const item of value.values()) visit(item, levels - 1)
  }
  visit(result, MAX_LEVELS)
}
