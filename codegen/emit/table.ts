import type { Operator } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { sharedName } from './boxed.js'
import { moduleImports, targetOf } from './dispatch.js'
import { banner, OPERATOR_INPUTS, usesModule } from './file.js'
import { packedLiteral } from './packed.js'

/** runtime/operators/table/generated/table.ts: what operators there are, in the order of their names, and what each calls. */
export function emitTable(operators: readonly Operator[], options: BuildOptions): string {
  const wrappers = new Map(wrappersOf(operators, options).map((name, i) => [name, i]))
  return `${banner('table.ts', OPERATOR_INPUTS)}
/** Qualified names in ascending order, a space between them. */
export const names: string = ${packedLiteral(operators.map((o) => o.qualifiedName).join(' '))}

/** The position of each name's function in generated/functions.ts. */
export const functionOf: readonly number[] = [${functionsOf(operators, options).positions.join(',')}]

/** The position of each name's wrapper there. */
export const wrapperOf: readonly number[] = [${operators.map((o) => wrappers.get(sharedName(o, options))!).join(',')}]
`
}

/** runtime/operators/table/generated/functions.ts: what the table's numbers stand for. The built package has it in parts (scripts/parts). */
export function emitFunctions(operators: readonly Operator[], options: BuildOptions): string {
  const list = functionsOf(operators, options)
    .functions.map((name) => `  ${name},\n`)
    .join('')
  const module = (name: string, path: string): string => (usesModule(list, name) ? `import * as ${name} from '${path}'\n` : '')
  const imports =
    moduleImports(list, '../..') + module('at', '../../generated/dispatch.js') + module('derived', './derived.js')
  // an array literal of thousands of function types is more than the compiler takes
  return `${banner('table.ts', OPERATOR_INPUTS)}${imports}import type { UnboxedFunction, Wrapper } from '../schema.js'
import * as w from './boxed.js'

/** The unboxed functions, each once, in the order of the first name that calls it. */
const functions = Array.of<UnboxedFunction>(
${list})

/** The boxed wrappers, the most frequent one first. */
const wrappers: readonly Wrapper[] = [
${wrappersOf(operators, options)
  .map((name) => `  w.${name},\n`)
  .join('')}]

export function functionAt(position: number): UnboxedFunction {
  return functions[position]!
}

export function wrapperAt(position: number): Wrapper {
  return wrappers[position]!
}
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
