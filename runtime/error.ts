import { HOW_TO_EXTEND } from './build.js'

/** Stable identifiers of everything a user can get wrong. */
export type ErrorCode =
  | 'INVALID_ARGUMENT' // a value of the wrong type, count, shape or range
  | 'INVALID_DTYPE' // an operator that has no meaning for this dtype
  | 'UNSUPPORTED_DTYPE' // PyTorch has it, this build does not
  | 'INVALID_FILE' // a damaged or unknown model file
  | 'NOT_FOUND' // no file is there
  | 'UNSUPPORTED_FILE' // a well-formed file that cannot be run here
  | 'MISSING_OPERATOR' // the build has no such operator
  | 'MISSING_KERNEL' // a selective build left the kernel out
  | 'MISSING_INSTRUCTION' // a selective build left the instruction out
  | 'UNKNOWN_METHOD'
  | 'UNKNOWN_ATTRIBUTE'
  | 'MODEL_ERROR' // the model raised an exception
  | 'DISPOSED' // a tensor or module used after dispose()
  | 'OUT_OF_MEMORY'
  | 'NATIVE_LIBRARY' // the kernel library is absent or does not fit
  | 'UNSUPPORTED_HOST' // Node was told not to allow what the call needs
  | 'WRITE_FAILED' // a file or stream that could not be written
  | 'LIMIT_EXCEEDED' // a call or load took more than it may: docs/limits.md
  | 'ABORTED' // given up by a signal, whose reason is the cause
  | 'INTERNAL'

/** Bytes of a message in UTF-8: what a file or an argument says in it may be of any length. */
const MAX_BYTES = 4096
/** Of those, what is kept of the beginning and of the end, where a traceback says where it was. */
const FIRST_BYTES = 2600
const LAST_BYTES = 1400

/** A message without its middle, where it is too long. */
export function shortened(message: string): string {
  if (3 * message.length <= MAX_BYTES || charactersIn(message, MAX_BYTES, 1) === message.length) return message
  let first = charactersIn(message, FIRST_BYTES, 1)
  let last = message.length - charactersIn(message, LAST_BYTES, -1)
  // no half of a pair
  if ((message.charCodeAt(first - 1) & 0xfc00) === 0xd800) first--
  if ((message.charCodeAt(last) & 0xfc00) === 0xdc00) last++
  return `${message.slice(0, first)}\n… (${last - first} characters are left out here)\n${message.slice(last)}`
}

/** How many characters, from the beginning (1) or the end (-1) on, so many bytes have room for. */
function charactersIn(text: string, bytes: number, step: 1 | -1): number {
  let count = 0
  for (let at = step > 0 ? 0 : text.length - 1; count < text.length; at += step, count++) {
    const code = text.charCodeAt(at)
    if ((bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : 3) < 0) break
  }
  return count
}

/** By which copies of the library in one process know each other's errors. */
const BRAND = Symbol.for('ptlite.error')

/**
 * The only error type that leaves the library. `message` says what was expected and what was found. `instanceof` holds for errors of
 * other copies of the library, too: a test runner may load several.
 */
export class PtliteError extends Error {
  override readonly name = 'PtliteError'

  constructor(
    /** Which kind of mistake it is: for programs to go by. */
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(shortened(message), options)
  }

  /** @hidden */
  get [BRAND](): true {
    return true
  }

  /** @hidden */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const isOne = typeof value === 'object' && value !== null && BRAND in value
    // classes that others derive have this function, too
    return isOne && (this === PtliteError || Function.prototype[Symbol.hasInstance].call(this, value))
  }
}

/** V8 refuses arrays, buffers and strings that are too long, and lists that are too long as arguments, by RangeErrors: they are the caller's sizes. */
export function sizeError(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error
  return new PtliteError('OUT_OF_MEMORY', `JavaScript has no room for this many elements (${error.message}); use smaller sizes`, {
    cause: error,
  })
}

/** Throws INVALID_ARGUMENT unless `condition` holds; `message` is only built on failure. */
export function check(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new PtliteError('INVALID_ARGUMENT', message())
}

/** The error about a part that a selective build was made without; it says how to make one that has it. */
export function absent(part: string, code: ErrorCode = 'UNSUPPORTED_DTYPE'): PtliteError {
  return new PtliteError(code, `${part} is not in this build${HOW_TO_EXTEND}`)
}
