import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'
import type { Upgrader } from '../../runtime/interpreter/upgraders.js'

/** The last operator version in which each operator had its old meaning. */
export const UNTIL: Readonly<Record<string, number>> = {
  'aten::div.Tensor': 3,
  'aten::div.Scalar': 3,
  'aten::div_.Tensor': 3,
  'aten::div_.Scalar': 3,
  'aten::div.out': 3,
  'aten::linspace': 7,
  'aten::linspace.out': 7,
  'aten::logspace': 8,
  'aten::logspace.out': 8,
}

/** Old meanings are left out: a file that needs one is refused, not run with today's. */
export function upgraderFor(qualifiedName: string, operatorVersion: number): Upgrader | undefined {
  if (operatorVersion > (UNTIL[qualifiedName] ?? 0)) return undefined
  throw new PtliteError('UNSUPPORTED_FILE', `${qualifiedName} of operator version ${operatorVersion} is not in this build${HOW_TO_EXTEND}`)
}
