import type { Limits } from '../runtime/limits.js'
import { checkOptions, count, positive } from '../runtime/tensor/check-arguments.js'

const TESTS = { instructions: count, bytes: count, milliseconds: positive, elements: count } satisfies Record<keyof Limits, unknown>

/** A test of an option `limits` of `where`, which may have `others` besides, for checkOptions. Throws INVALID_ARGUMENT for what is wrong inside of it. */
export function limitsTest(
  where: string,
  others: Readonly<Record<string, (value: unknown) => string | null>> = {},
): (value: unknown) => string | null {
  const tests = { ...TESTS, ...others }
  const place = `${where}, limits`
  return (value) => {
    if (Object.prototype.toString.call(value) !== '[object Object]') return 'an object'
    checkOptions(value, tests, place)
    return null
  }
}
