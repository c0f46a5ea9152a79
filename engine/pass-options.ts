import type { PassOptions } from '../compiler/index.js'
import { check } from '../runtime/error.js'
import { env } from '../runtime/platform.js'
import type { LoadOptions } from './options.js'

const VARIABLE = 'PTLITE_WINOGRAD'

/** What a caller decides about the compiler. Throws INVALID_ARGUMENT. */
export function passOptions({ winograd = winogradByDefault() }: LoadOptions): PassOptions {
  check(typeof winograd === 'boolean', () => `winograd: expected true or false, found ${JSON.stringify(winograd)}`)
  return { winograd }
}

/** What the environment says; by default it is on. Throws INVALID_ARGUMENT where it says neither. */
function winogradByDefault(): boolean {
  const text = env[VARIABLE] ?? ''
  check(['', '0', '1'].includes(text), () => `${VARIABLE}: expected 0 or 1, found ${JSON.stringify(text)}`)
  return text !== '0'
}
