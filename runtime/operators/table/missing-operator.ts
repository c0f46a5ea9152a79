import { PtliteError } from '../../error.js'
import { HOW_TO_ADD, similarOperators } from './similar.js'

/** Names that are shown: a file can have any number of them. */
const SHOWN = 50
const LONGEST = 100

const NO_GRADIENTS = 'torch.autograd: this library keeps no graph of what was computed, and has no gradients'
/** What there is to say of an operator that nobody else will add. */
const REASONS: Readonly<Record<string, string>> = { 'aten::grad': NO_GRADIENTS, 'aten::backward': NO_GRADIENTS }

/** One error for all operators that are missing, with what comes closest to each. `others` are methods that can do without them. */
export function missingOperators(qualifiedNames: readonly string[], others: readonly string[] = []): PtliteError {
  const lines = qualifiedNames.slice(0, SHOWN).map((full) => {
    const name = full.slice(0, LONGEST)
    const similar = Object.hasOwn(REASONS, full) ? [] : similarOperators(name)
    const reason = Object.hasOwn(REASONS, full) ? REASONS[full]! : similar.length === 0 ? '' : `there is ${similar.join(', ')}`
    return reason === '' ? `  ${name}` : `  ${name} (${reason})`
  })
  const { length } = qualifiedNames
  if (length > SHOWN) lines.push(`  and ${length - SHOWN} more`)
  const count = length === 1 ? 'an operator' : `${length} operators`
  const methods = others.slice(0, SHOWN).map((method) => method.slice(0, LONGEST))
  const rest = methods.length === 0 ? '' : `\nWith { strict: false } the file loads, and ${methods.join(', ')} can be called.`
  return new PtliteError('MISSING_OPERATOR', `this build lacks ${count}:\n${lines.join('\n')}${HOW_TO_ADD}${rest}`)
}
