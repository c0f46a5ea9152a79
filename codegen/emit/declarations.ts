import type { Operator } from '../model/operator.js'
import { banner, OPERATOR_INPUTS } from './file.js'

/** runtime/operators/table/generated/declarations.ts: where operators stand, for messages of `ptlite codegen`; no model needs it. */
export function emitDeclarations(operators: readonly Operator[]): string {
  const files = [...new Set(operators.map((o) => o.native.source.file))]
  const numbers = new Map(files.map((file, i) => [file, i]))
  const rows = operators.map(({ native }) => `  ${numbers.get(native.source.file)!}, ${native.source.line},\n`).join('')
  return `${banner('declarations.ts', OPERATOR_INPUTS)}/** The YAML files. */
export const files: readonly string[] = [
${files.map((file) => `  '${file}',\n`).join('')}]

/** File and line of each operator, in the order of the table. */
export const places: readonly number[] = [
${rows}]
`
}
