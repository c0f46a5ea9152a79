import { PtliteError } from '../error.js'
import { HOW_TO_ADD, similarOperators } from './similar.js'

/** One error for all operators that are missing, with what comes closest to each. */
export function missingOperators(qualifiedNames: readonly string[]): PtliteError {
  const lines = qualifiedNames.map((name) => {
    const similar = similarOperators(name)
    return similar.length === 0 ? `  ${name}` : `  ${name} (there is ${similar.join(', ')})`
  })
  const count = lines.length === 1 ? 'an operator' : `${lines.length} operators`
  return new PtliteError('MISSING_OPERATOR', `this build lacks ${count}:\n${lines.join('\n')}${HOW_TO_ADD}`)
}
