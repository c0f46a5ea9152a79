import type { ArgumentHistory } from '../argument-history.js'
import { banner } from './file.js'

/** runtime/operators/table/generated/argument-history.ts: argument counts that operators once had. */
export function emitArgumentHistory(all: readonly ArgumentHistory[]): string {
  const record = (items: (history: ArgumentHistory) => readonly unknown[]): string =>
    all
      .filter((history) => items(history).length > 0)
      .map((history) => `  '${history.qualifiedName}': ${JSON.stringify(items(history))},\n`)
      .join('')
  return `${banner('argument-history.ts', 'codegen/argument_history.yaml')}import type { Value } from '../../../tensor/value.js'

/** How many arguments calls gave in earlier versions, where the schema completes them now. */
export const earlierCounts: Readonly<Record<string, readonly number[]>> = {
${record(({ counts }) => counts)}}

/** Values of the missing arguments, where the schema has no defaults. */
export const missingValues: Readonly<Record<string, readonly Value[]>> = {
${record(({ values }) => values)}}

/** Earlier numbers of arguments that meant something else. */
export const otherCounts: Readonly<Record<string, readonly number[]>> = {
${record(({ other }) => other)}}
`
}
