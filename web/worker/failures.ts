import type * as library from '../../src/index.js'
import type { Failure } from './messages.js'

/** An error on its way to another thread. */
export function failureOf(error: unknown, { PtliteError }: Pick<typeof library, 'PtliteError'>): Failure {
  if (error instanceof PtliteError) return { code: error.code, message: error.message }
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) }
}
