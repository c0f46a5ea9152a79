import { failAt } from '../error.js'
import type { GeneratedFiles } from '../generate.js'
import { banner } from './file.js'
import type { Entry } from '../yaml-file.js'

const INPUT = 'codegen/coefficients.yaml'
const NAME = /^[A-Z][A-Z0-9_]*$/

/** A number that functions on floats share, or the coefficients of a series. */
interface Coefficient {
  readonly name: string
  readonly value: number | readonly number[]
  readonly isWide: boolean
  readonly doc: string
}

/** The numbers of codegen/coefficients.yaml, for both languages. Throws CodegenError. */
export function emitCoefficients(entries: readonly Entry[]): GeneratedFiles {
  const all = entries.map(coefficientOf)
  const twice = entries.find((_, i) => all.findIndex(({ name }) => name === all[i]!.name) < i)
  if (twice !== undefined) failAt(twice.source, String(twice.fields[0]!.value), 'stands here twice')
  return new Map([
    ['kernels/vec/generated/coefficients.h', banner('coefficients.ts', INPUT) + headerText(all)],
    ['runtime/native/generated/coefficients.ts', `${banner('coefficients.ts', INPUT)}\n${all.map(typeScriptText).join('')}`],
  ])
}

function coefficientOf({ fields, source }: Entry): Coefficient {
  const get = (key: string): unknown => fields.find((f) => f.key === key)?.value
  const name = String(fields[0]?.value)
  const isSeries = fields[0]?.key === 'series'
  const keys = [isSeries ? 'series' : 'number', isSeries ? 'values' : 'value', 'wide', 'doc']
  const unknown = fields.find(({ key }) => !keys.includes(key))
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!NAME.test(name)) failAt(source, name, 'needs a name in capitals')
  const value = get(keys[1]!)
  const numbers: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (Array.isArray(value) !== isSeries || numbers.length === 0 || !numbers.every((x) => Number.isFinite(x)))
    failAt(source, name, isSeries ? "'values' must be a list of numbers" : "'value' must be a number")
  return { name, value: value as Coefficient['value'], isWide: get('wide') === true, doc: String(get('doc') ?? '') }
}

function headerText(all: readonly Coefficient[]): string {
  const rows = all.map(({ name, value, isWide, doc }) => {
    const type = isWide ? 'double' : 'float'
    const literal = (x: number): string => `${/[.e]/.test(String(x)) ? String(x) : `${x}.`}${isWide ? '' : 'f'}`
    const text = typeof value === 'number' ? `${name} = ${literal(value)}` : `${name}[] = {${value.map(literal).join(', ')}}`
    return `// ${doc}\nconstexpr ${type} ${text};\n`
  })
  return `#pragma once\n\nnamespace ptlite {\nnamespace coefficients {\n\n${rows.join('')}\n}  // namespace coefficients\n}  // namespace ptlite\n`
}

function typeScriptText({ name, value, doc }: Coefficient): string {
  return `/** ${doc} */\nexport const ${name} = ${typeof value === 'number' ? value : `[${value.join(', ')}] as const`}\n`
}
