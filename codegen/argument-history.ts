import { type Source, failAt } from './error.js'
import type { Operator } from './model/operator.js'
import { isOutArgument } from './schema/model.js'
import type { Entry, Field } from './yaml-file.js'

/** How many arguments calls of an operator gave when its schema had others than today. */
export interface ArgumentHistory {
  readonly qualifiedName: string
  /** Calls that lack arguments at the end, before `out` ones. */
  readonly counts: readonly number[]
  /** What stands for the missing ones where the schema has no defaults. */
  readonly values: readonly (boolean | number | string | null)[]
  /** Calls whose arguments meant something else. */
  readonly other: readonly number[]
}

/** Reads codegen/argument_history.yaml. Throws CodegenError for what does not fit today's schemas. */
export function readHistory(entries: readonly Entry[], operators: readonly Operator[]): ArgumentHistory[] {
  const byName = new Map(operators.map((o) => [o.qualifiedName, o]))
  const seen = new Set<string>()
  return entries.flatMap((entry) => {
    const list = (key: string): unknown[] => listOf(entry.fields.find((field) => field.key === key))
    const unknown = entry.fields.find(({ key }) => !['names', 'counts', 'values', 'other'].includes(key))
    if (unknown !== undefined) failAt(unknown.source, 'entry', `unknown key '${unknown.key}'`)
    return list('names').map((name) => {
      const qualifiedName = String(name).includes('::') ? String(name) : `aten::${String(name)}`
      const operator = byName.get(qualifiedName)
      if (operator === undefined) failAt(entry.source, qualifiedName, 'no such operator is declared')
      if (seen.has(qualifiedName)) failAt(entry.source, qualifiedName, 'stands here twice')
      seen.add(qualifiedName)
      const history = {
        qualifiedName,
        counts: list('counts') as number[],
        values: list('values') as ArgumentHistory['values'],
        other: list('other') as number[],
      }
      check(history, operator, entry.source)
      return history
    })
  })
}

function listOf(field: Field | undefined): unknown[] {
  if (field === undefined) return []
  return Array.isArray(field.value) ? field.value : failAt(field.source, 'entry', `'${field.key}' must be a list`)
}

function check({ qualifiedName, counts, values, other }: ArgumentHistory, { schema }: Operator, source: Source): void {
  const args = schema.arguments
  const outs = args.filter(isOutArgument).length
  for (const count of [...counts, ...other]) {
    if (!Number.isInteger(count) || count < outs || count >= args.length)
      failAt(source, qualifiedName, `takes ${args.length} arguments today: ${String(count)} is no earlier number`)
  }
  if (values.length > 0 && counts.some((count) => count + values.length !== args.length))
    failAt(source, qualifiedName, `'values' must be as many as are missing`)
  for (const count of counts) {
    const bare = args.slice(count - outs, args.length - outs).find((a) => a.defaultValue === null)
    if (bare !== undefined && values.length === 0) failAt(source, qualifiedName, `'${bare.name}' has no default: 'values' must give it`)
  }
}
