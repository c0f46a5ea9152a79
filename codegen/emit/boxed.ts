import type { Operator, Parameter } from '../model/operator.js'
import { boxing, unboxing } from '../types/unboxing.js'
import { unboxedCall } from './dispatch.js'
import { banner, OPERATOR_INPUTS, typeImports, usesModule } from './file.js'

/** Name of the boxed wrapper. */
export function wrapperName(operator: Operator): string {
  return `w_${operator.unboxedName}`
}

/** runtime/operators/generated/boxed.ts. Operators are given in table order: their position is the number in error messages. */
export function emitBoxed(operators: readonly Operator[]): string {
  const body = operators.map((operator, index) => wrapper(operator, index)).join('')
  const helpers = [...new Set(body.match(/(?<![.\w])(?:as[A-Z]\w*|box\w+|pack|countVarargs)(?=\()/g))].sort()
  const module = (name: string, path: string): string => (usesModule(body, name) ? `import * as ${name} from '${path}'\n` : '')
  const imports =
    module('at', '../../backends/generated/dispatch.js') +
    module('composite', '../../backends/composite/index.js') +
    typeImports(body, '../../tensor') +
    importLine(
      helpers.filter((h) => !h.startsWith('as')),
      '../pack.js',
    ) +
    importLine(
      helpers.filter((h) => h.startsWith('as')),
      '../unbox.js',
    ) +
    module('derived', './derived.js')
  return `${banner('boxed.ts', OPERATOR_INPUTS)}${imports}\n${body}`
}

function importLine(names: readonly string[], path: string): string {
  return names.length === 0 ? '' : `import { ${names.join(', ')} } from '${path}'\n`
}

function wrapper(operator: Operator, index: number): string {
  const rest = `v.slice(${slot(operator.schema.arguments.length)}, b + n)`
  const call = unboxedCall(operator, (p) => unboxed(operator, p, index), rest)
  return `export function ${wrapperName(operator)}(s: Stack): void {\n  ${prologue(operator, index)}\n${results(operator, call)}}\n`
}

/** Takes the arguments off the stack: they stay readable from `b` on. */
function prologue(operator: Operator, index: number): string {
  const count = operator.schema.arguments.length
  if (operator.schema.isVararg) return `const v = s.values, n = countVarargs(s, ${count}, ${index}), b = (s.top -= n)`
  return `const v = s.values, b = ${count === 0 ? 's.top' : `(s.top -= ${count})`}`
}

function unboxed(operator: Operator, parameter: Parameter, index: number): string {
  const at = parameter.position
  if (parameter.type === null) return `asOptions(v, ${slot(at)}, ${index}, ${at})`
  const { helper, extra } = unboxing(parameter.type, operator.style)
  return `${helper}(v[${slot(at)}], ${[index, at, ...extra].join(', ')})`
}

function slot(position: number): string {
  return position === 0 ? 'b' : `b + ${position}`
}

function results(operator: Operator, call: string): string {
  const { returns, isVarret } = operator.schema
  if (isVarret) return `  s.top = pack(v, b, ${call})\n`
  if (returns.length === 0) return `  ${call}\n`
  const kinds = returns.map((r) => boxing(r.type, operator.style))
  const boxed = (text: string, i: number): string => {
    const kind = kinds[i]!
    return kind === 'asIs' ? text : `box${kind[0]!.toUpperCase()}${kind.slice(1)}(${text})`
  }
  if (returns.length === 1) return `  v[b] = ${boxed(call, 0)}\n  s.top = b + 1\n`
  if (kinds.every((k) => k === 'asIs')) return `  s.top = pack(v, b, ${call})\n`
  const stores = kinds.map((_, i) => `  v[${slot(i)}] = ${boxed(`r[${i}]`, i)}\n`).join('')
  return `  const r = ${call}\n${stores}  s.top = b + ${returns.length}\n`
}
