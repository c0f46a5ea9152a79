import type { Operator, Parameter } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { boxing, unboxing } from '../types/unboxing.js'
import { moduleImports, unboxedCall } from './dispatch.js'
import { banner, OPERATOR_INPUTS, typeImports, usesModule } from './file.js'

/** Name of the boxed wrapper. */
export function wrapperName(operator: Operator): string {
  return `w_${operator.unboxedName}`
}

/** runtime/operators/generated/boxed.ts. Operators are given in table order: their position is the number in error messages. */
export function emitBoxed(operators: readonly Operator[], options: BuildOptions): string {
  const body = operators.map((operator, index) => boxedFunction(operator, String(index), options)).join('')
  const helpers = [...new Set(body.match(/(?<![.\w])(?:as[A-Z]\w*|give\w*|take\w*|rest)(?=\(s\b)/g))].sort()
  const module = (name: string, path: string): string => (usesModule(body, name) ? `import * as ${name} from '${path}'\n` : '')
  const imports =
    module('at', '../../backends/generated/dispatch.js') +
    moduleImports(body, '../../backends') +
    typeImports(body, '../../tensor') +
    importLine(
      helpers.filter((h) => h.startsWith('give')),
      '../pack.js',
    ) +
    importLine(
      helpers.filter((h) => !h.startsWith('give')),
      '../unbox.js',
    ) +
    module('derived', './derived.js')
  return `${banner('boxed.ts', OPERATOR_INPUTS)}${imports}\n${body}`
}

function importLine(names: readonly string[], path: string): string {
  return names.length === 0 ? '' : `import { ${names.join(', ')} } from '${path}'\n`
}

/** One wrapper. `number` is the text of the operator's number; `first` a statement to begin with. */
export function boxedFunction(operator: Operator, number: string, options: BuildOptions, first = ''): string {
  const count = operator.schema.arguments.length
  const taken = operator.schema.isVararg ? `const n = takeVarargs(s, ${count}, ${number})` : `take(s, ${count}, ${number})`
  const call = unboxedCall(operator, options, (p) => unboxed(operator, p), `rest(s, ${count}, n)`)
  return `export function ${wrapperName(operator)}(s: Stack): void {\n${first}  ${taken}\n${results(operator, call)}}\n`
}

function unboxed(operator: Operator, parameter: Parameter): string {
  if (parameter.type === null) return `asOptions(s, ${parameter.position})`
  const { helper, extra } = unboxing(parameter.type, operator.style)
  return `${helper}(${['s', parameter.position, ...extra].join(', ')})`
}

function results(operator: Operator, call: string): string {
  const { returns, isVarret } = operator.schema
  const givers = returns.map((r) => GIVERS[boxing(r.type, operator.style)])
  if (isVarret) return `  giveAll(s, ${call})\n`
  if (givers.length === 0) return `  ${call}\n`
  if (givers.length === 1) return `  ${givers[0]!}(s, ${call})\n`
  if (givers.every((giver) => giver === 'give')) return `  giveAll(s, ${call})\n`
  return `  const r = ${call}\n${givers.map((giver, i) => `  ${giver}(s, r[${i}])\n`).join('')}`
}

const GIVERS = { asIs: 'give', float: 'giveFloat', floatOrNull: 'giveFloatOrNull', floats: 'giveFloats' } as const
