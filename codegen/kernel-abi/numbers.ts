import { at, failAt } from '../error.js'
import type { Entry } from '../yaml-file.js'
import type { KernelNumber } from './model.js'

const NAME = /^[A-Z][A-Z0-9_]*$/

/** The limits and statuses among declarations. Throws CodegenError. */
export function numbersOf(entries: readonly Entry[]): KernelNumber[] {
  const numbers: KernelNumber[] = []
  for (const entry of entries) {
    const kind = entry.fields[0]?.key
    if (kind !== 'limit' && kind !== 'status') continue
    const number = numberOf(kind, entry)
    const other = numbers.find((n) => n.name === number.name || (kind === 'status' && n.kind === kind && n.value === number.value))
    if (other !== undefined) failAt(entry.source, number.name, `its name or value is taken at ${at(other.source)}`)
    numbers.push(number)
  }
  return numbers
}

function numberOf(kind: KernelNumber['kind'], { fields, source }: Entry): KernelNumber {
  const get = (key: string): unknown => fields.find((f) => f.key === key)?.value
  const name = String(get(kind))
  const value = get('value')
  const doc = get('doc')
  const unknown = fields.find(({ key }) => key !== kind && key !== 'value' && key !== 'doc')
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!NAME.test(name)) failAt(source, name, `a ${kind} needs a name in capitals`)
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 65535)
    failAt(source, name, "'value' must be an integer from 0 to 65535")
  if (typeof doc !== 'string' || doc.trim() === '' || doc.includes('\n')) failAt(source, name, "'doc' must be a line of text")
  return { kind, name, value, doc: doc.trim(), source }
}
