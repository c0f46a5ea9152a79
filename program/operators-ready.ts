import type { Waiting } from '../runtime/ready.js'
import type { FunctionCode } from './code.js'

/** The operators that the functions of a file may come to: as all in runtime/ready.ts, undefined where nothing has to be waited for. */
export function operatorsReady(_codes: readonly FunctionCode[], _operatorVersion: number): Waiting {
  return undefined
}
