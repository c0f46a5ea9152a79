import type { Operator } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { sharedName } from './boxed.js'
import { moduleImports, targetOf } from './dispatch.js'
import { banner, OPERATOR_INPUTS, usesModule } from './file.js'
import { packedLiteral } from './packed.js'

/** runtime/operators/generated/table.ts: what operators there are, in the order of their names, and what each calls. */
export function emitTable(operators: readonly Operator[], options: BuildOptions): string {
  const { functions, positions } = functionsOf(operators, options)
  const wrappers = byFrequency(operators.map((o) => sharedName(o, options)))
  const number = new Map(wrappers.map((name, i) => [name, i]))
  // an array literal of thousands of function types is more than the compiler takes
  const list = functions.map((name) => `  ${name},\n`).join('')
  const module = (name: string, path: string): string => (usesModule(list, name) ? `import * as ${name} from '${path}'\n` : '')
  const imports =
    moduleImports(list, '../../backends') + module('at', '../../backends/generated/dispatch.js') + module('derived', './derived.js')
  return `${banner('table.ts', OPERATOR_INPUTS)}${imports}import type { UnboxedFunction, Wrapper } from '../schema.js'
import * as w from './boxed.js'

/** Qualified names in ascending order, a space between them. */
export const names: string = ${packedLiteral(operators.map((o) => o.qualifiedName).join(' '))}

/** The unboxed functions, each once, in the order of the first name that calls it. */
export const functions = Array.of<UnboxedFunction>(
${list})

/** The position of each name's function in the list. */
export const functionOf: readonly number[] = [${positions.join(',')}]

/** The boxed wrappers, the most frequent one first. */
export const wrappers: readonly Wrapper[] = [
${wrappers.map((name) => `  w.${name},\n`).join('')}]

/** The position of each name's wrapper. */
export const wrapperOf: readonly number[] = [${operators.map((o) => number.get(sharedName(o, options))!).join(',')}]
`
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
