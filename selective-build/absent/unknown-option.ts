import { PtliteError } from '../../runtime/error.js'

/** An option that there is not: all that there are, without a guess which was meant. */
export function unknownOption(name: string, known: readonly string[], where: string): PtliteError {
  return new PtliteError('INVALID_ARGUMENT', `${where} takes no option '${name.slice(0, 40)}'; it takes ${known.join(', ')}`)
}
