import { failAt } from '../error.js'
import type { GeneratedFiles } from '../generate.js'
import { banner, floatLiteral } from './file.js'
import type { Entry } from '../yaml-file.js'

const INPUT = 'codegen/coefficients.yaml'
const NAME = /^[A-Z][A-Z0-9_]*$/

/** A number that functions on floats share, or the coefficients of a series. */
export interface Coefficient {
  readonly name: string
  readonly value: number | readonly number[]
  readonly doc: string
}

/** The numbers of codegen/coefficients.yaml by their names. Throws CodegenError. */
export function readCoefficients(entries: readonly Entry[]): Coefficient[] {
  const all = entries.map(coefficientOf)
  const twice = entries.find((_, i) => all.findIndex(({ name }) => name === all[i]!.name) < i)
  if (twice !== undefined) failAt(twice.source, String(twice.fields[0]!.value), 'stands here twice')
  return all
}

/** Those that are written out in C++. */
export function emitCoefficients(all: readonly Coefficient[]): GeneratedFiles {
  return new Map([['kernels/vec/generated/coefficients.h', banner('coefficients.ts', INPUT) + headerText(all)]])
}

function coefficientOf({ fields, source }: Entry): Coefficient {
  const get = (key: string): unknown => fields.find((f) => f.key === key)?.value
  const name = String(fields[0]?.value)
  const isSeries = fields[0]?.key === 'series'
  const keys = [isSeries ? 'series' : 'number', isSeries ? 'values' : 'value', 'doc']
  const unknown = fields.find(({ key }) => !keys.includes(key))
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!NAME.test(name)) failAt(source, name, 'needs a name in capitals')
  const value = get(keys[1]!)
  const numbers: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (Array.isArray(value) !== isSeries || numbers.length === 0 || !numbers.every((x) => Number.isFinite(x)))
    failAt(source, name, isSeries ? "'values' must be a list of numbers" : "'value' must be a number")
  return { name, value: value as Coefficient['value'], doc: String(get('doc') ?? '') }
}

function headerText(all: readonly Coefficient[]): string {
  const rows = all.map(({ name, value, doc }) => {
    const text = typeof value === 'number' ? `${name} = ${floatLiteral(value)}` : `${name}[] = {${value.map(floatLiteral).join(', ')}}`
    return `// ${doc}\nconstexpr float ${text};\n`
  })
  return `#pragma once\n\nnamespace ptlite {\nnamespace coefficients {\n\n${rows.join('')}\n}  // namespace coefficients\n}  // namespace ptlite\n`
}
