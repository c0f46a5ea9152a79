import { PtliteError } from '../../runtime/error.js'
import { HOW_TO_EXTEND } from '../../runtime/build.js'

/** Names of the operators that once had another meaning. */
export const UPGRADED = /^aten::(?:(div)_?\.(?:Tensor|Scalar|out)|(lin|log)space(?:\.out)?)$/

/** Old meanings are left out: a file that needs one is refused, not run with today's. */
export function upgradedOperator(name: string, _argCount: number, operatorVersion: number): undefined {
  const [, isDivision, space] = UPGRADED.exec(name) ?? []
  const until = isDivision !== undefined ? 3 : space === 'lin' ? 7 : space === 'log' ? 8 : 0
  if (operatorVersion <= until)
    throw new PtliteError('UNSUPPORTED_FILE', `${name} of operator version ${operatorVersion} is not in this build${HOW_TO_EXTEND}`)
}

export function upgraderFor(): undefined {
  return undefined
}
