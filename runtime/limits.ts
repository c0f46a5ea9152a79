import { PtliteError } from './error.js'

/** What one call may take, or the code that runs while one module is loaded. docs/limits.md says what counts, and what holds without. */
export interface Limits {
  /** Instructions of the bytecode that are interpreted. Compiled calls interpret none. */
  readonly instructions?: number
  /** Memory for tensors, in bytes: the most that the call may have at one time of what it has made itself. */
  readonly bytes?: number
  /** Wall time while the call runs, in milliseconds. */
  readonly milliseconds?: number
  /**
   * Elements of lists, tuples and dicts and characters of strings that are alive at one time; an object or container counts 4 beside what it
   * holds, a tensor 64. 2^25 (33,554,432) by default.
   */
  readonly elements?: number
}

/** Limits with others where they do not say. Undefined where there are none. */
export function limitsOver(own: Limits | undefined, others: Limits): Limits
export function limitsOver(own: Limits | undefined, others: Limits | undefined): Limits | undefined
export function limitsOver(own: Limits | undefined, others: Limits | undefined): Limits | undefined {
  if (own === undefined) return others
  if (others === undefined) return own
  // of each call: to copy whatever properties there are takes as long as a small network
  return {
    instructions: own.instructions ?? others.instructions,
    bytes: own.bytes ?? others.bytes,
    milliseconds: own.milliseconds ?? others.milliseconds,
    elements: own.elements ?? others.elements,
  } satisfies Record<keyof Limits, unknown> as Limits
}

/** Of runs whose limits do not say: a gigabyte at worst, which is a quarter of what V8 gives a program. */
export const DEFAULT_ELEMENTS = 2 ** 25

/** Of loads whose limits do not say: a minute. */
export const READING_MILLISECONDS = 60_000

/** What a tensor counts for: its objects take about as much as so many numbers. */
export const TENSOR_ELEMENTS = 64

/** What a container or object counts for beside what it holds. */
export const CONTAINER_ELEMENTS = 4

/** Who is limited, as messages begin. */
export type Limited = 'the call' | 'loading the module' | 'inspecting the model' | 'the operator'

/** The error about a limit that was reached; `place` says where, where its traceback does not. */
export function limitError(who: Limited, kind: keyof Limits, limit: number, place = ''): PtliteError {
  const at = place === '' ? '' : `, in ${place}`
  return new PtliteError(
    'LIMIT_EXCEEDED',
    `${who} took more than ${limit} ${
      kind === 'elements'
        ? 'elements of lists, dicts and strings at one time'
        : kind === 'bytes'
          ? 'bytes of tensors at one time'
          : kind === 'instructions'
            ? kind
            : 'ms'
    }${at}${who === 'the operator' ? '' : `; raise limits.${kind} if the model needs more`}`,
  )
}

/** Errors that end a call as it is: another way to carry it out would end the same way, or not at all. */
export function endsCall(error: unknown): boolean {
  return error instanceof PtliteError && FINAL.has(error.code)
}

const FINAL: ReadonlySet<string> = new Set(['OUT_OF_MEMORY', 'LIMIT_EXCEEDED', 'ABORTED'])

/** Longer than any process runs, in nanoseconds. */
const FOREVER = 2 ** 62

/** A time for kernels, which is not 0. */
export function nanosecondsOf(milliseconds: number): number {
  return Math.max(1, Math.min(Math.floor(milliseconds * 1e6), FOREVER))
}
