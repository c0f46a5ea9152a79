import { PtliteError } from '../runtime/error.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import type { Stack, Value } from '../runtime/tensor/value.js'

/** What a program says; of anything but a text its kind. */
export function messageText(message: Value): string {
  return typeof message === 'string' ? message : kindOf(message)
}

/** Python's exception of the model: the message, after the class name where one is given. */
export function raise(message: Value, className: Value): never {
  const text = messageText(message)
  throw new PtliteError('MODEL_ERROR', typeof className === 'string' ? `${className}: ${text}` : text)
}

/** The exception of a file that may give a message alone, or one with the name of its class or None above it. */
export function raiseTopmost(stack: Stack): never {
  const last = stack.values[stack.top - 1]!
  const before = stack.top > 1 ? stack.values[stack.top - 2]! : null
  const hasClass = typeof before === 'string' && (last === null || (typeof last === 'string' && /^[A-Za-z_]\w*(\.\w+)+$/.test(last)))
  raise(hasClass ? before : last, hasClass ? last : null)
}
