import { PtliteError } from '../../error.js'
import type { Value } from '../../tensor/value.js'
import { joinTexts, valueText } from './support/value-text.js'

export function fail(message: string): never {
  throw new PtliteError('MODEL_ERROR', message)
}

/** Puts the arguments in place of `{}`, one after the other; other braces stay, spare arguments are dropped. */
export function format(self: string, rest: Value[]): string {
  const parts = self.split('{}')
  if (parts.length - 1 > rest.length) fail(`IndexError: too few arguments for format string: ${self}`)
  return joinTexts(parts.flatMap((part, i) => (i === 0 ? [part] : [valueText(rest[i - 1]!), part])))
}
