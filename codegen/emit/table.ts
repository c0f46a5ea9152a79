import type { Operator } from '../model/operator.js'
import { wrapperName } from './boxed.js'
import { banner, OPERATOR_INPUTS } from './file.js'

/** runtime/operators/generated/table.ts: parallel arrays sorted by qualified name. */
export function emitTable(operators: readonly Operator[]): string {
  const names = operators.map((o) => `  '${o.qualifiedName}',\n`).join('')
  const functions = operators.map((o) => `  w.${wrapperName(o)},\n`).join('')
  return `${banner('table.ts', OPERATOR_INPUTS)}import type { BoxedFunction } from '../schema.js'
import * as w from './boxed.js'

/** Qualified names in ascending order. */
export const names: readonly string[] = [
${names}]

/** The boxed wrapper of each name. */
export const functions: readonly BoxedFunction[] = [
${functions}]
`
}
