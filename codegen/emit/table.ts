import type { Operator } from '../model/operator.js'
import { type BuildOptions, tableOf, TABLES } from '../options.js'
import { emitBoxed, sharedName } from './boxed.js'
import { moduleImports, targetOf } from './dispatch.js'
import { banner, OPERATOR_INPUTS, usesModule } from './file.js'
import { packedLiteral, packNumbers } from './packed.js'
import { emitSchemas } from './schemas.js'

const FOLDER = 'runtime/operators/table/generated'

/** The operator table: the files of each of its parts, which are in chunks of their own. There are none of a part without operators but the first. */
export function emitTables(operators: readonly Operator[], options: BuildOptions): [string, string][] {
  const [first, ...others] = TABLES.map((table) => operators.filter((o) => tableOf(o, options) === table)) as [Operator[], ...Operator[][]]
  const counts = [first, ...others].map((some, i) => `export const ${TABLES[i]!}Operators: number = ${some.length}\n`).join('')
  const shared = wrappersOf(first, options)
  const known = new Set(shared)
  const files: [string, string][] = [
    [`${FOLDER}/boxed.ts`, emitBoxed(first, options)],
    [`${FOLDER}/counts.ts`, `${banner('table.ts', OPERATOR_INPUTS)}\n/** How many operators are in each table. */\n${counts}`],
    [`${FOLDER}/table.ts`, emitTable(first, shared, options)],
    [`${FOLDER}/functions.ts`, emitFunctions(first, shared, options)],
    [`${FOLDER}/schemas.ts`, emitSchemas(first)],
  ]
  for (const [i, some] of others.entries()) {
    if (some.length === 0) continue
    const start = `${FOLDER}/${TABLES[i + 1]!}`
    const unlike = some.filter((operator) => !known.has(sharedName(operator, options)))
    const own = wrappersOf(unlike, options)
    files.push(
      [`${start}-boxed.ts`, emitBoxed(unlike, options)],
      [`${start}-table.ts`, emitTable(some, [...shared, ...own], options)],
      [`${start}-functions.ts`, emitFunctions(some, own, options, `${TABLES[i + 1]!}-boxed`)],
      [`${start}-schemas.ts`, emitSchemas(some)],
    )
  }
  return files
}

/** What operators there are, in the order of their names, and what each calls. */
function emitTable(operators: readonly Operator[], wrappers: readonly string[], options: BuildOptions): string {
  const numbers = new Map(wrappers.map((name, i) => [name, i]))
  return `${banner('table.ts', OPERATOR_INPUTS)}
/** Qualified names in ascending order, a space between them. */
export const names: string = ${packedLiteral(operators.map((o) => o.qualifiedName).join(' '))}

/** The position of each name's function in the file of functions, packed. */
export const functionOf: string = ${packedLiteral(packNumbers(functionsOf(operators, options).positions))}

/** The position of each name's wrapper there, packed. */
export const wrapperOf: string = ${packedLiteral(packNumbers(operators.map((o) => numbers.get(sharedName(o, options))!)))}
`
}

/** What the table's numbers stand for. `wrapperFile` is that of a table whose wrappers come after those of the first one. */
function emitFunctions(operators: readonly Operator[], wrappers: readonly string[], options: BuildOptions, wrapperFile?: string): string {
  const list = functionsOf(operators, options)
    .functions.map((name) => `  ${name},\n`)
    .join('')
  const module = (name: string, path: string): string => (usesModule(list, name) ? `import * as ${name} from '${path}'\n` : '')
  const shared = wrapperFile === undefined ? '' : `import { wrappers as shared } from './functions.js'\n`
  const imports =
    moduleImports(list, '../..') +
    module('at', '../../generated/dispatch.js') +
    module('derived', './derived.js') +
    (wrappers.length > 0 ? `import * as boxed from './${wrapperFile ?? 'boxed'}.js'\n` : '') +
    shared
  // an array literal of thousands of function types is more than the compiler takes
  return `${banner('table.ts', OPERATOR_INPUTS)}${imports}import type { UnboxedFunction, Wrapper } from '../schema.js'

/** The unboxed functions, each once, in the order of the first name that calls it. */
export const functions: readonly UnboxedFunction[] = Array.of<UnboxedFunction>(
${list})

/** The boxed wrappers${shared === '' ? '' : ': those of the first table, then others'}, the most frequent one first. */
export const wrappers: readonly Wrapper[] = [
${shared === '' ? '' : '  ...shared,\n'}${wrappers.map((name) => `  boxed.${name},\n`).join('')}]
`
}

function wrappersOf(operators: readonly Operator[], options: BuildOptions): string[] {
  return byFrequency(operators.map((o) => sharedName(o, options)))
}

function functionsOf(operators: readonly Operator[], options: BuildOptions): { functions: string[]; positions: number[] } {
  const functions: string[] = []
  const known = new Map<string, number>()
  const positions = operators.map((operator) => {
    const { name } = targetOf(operator, options)
    const at = known.get(name)
    if (at !== undefined) return at
    known.set(name, functions.length)
    return functions.push(name) - 1
  })
  return { functions, positions }
}

/** Distinct items, the most frequent one first, equally frequent ones in order. */
function byFrequency(items: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([item]) => item)
}
