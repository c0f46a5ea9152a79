import type { Operator, Parameter } from '../model/operator.js'
import { boxing, unboxing } from '../types/unboxing.js'
import { isDispatched, nativeCall } from './dispatch.js'
import { banner, OPERATOR_INPUTS, typeImports, used } from './file.js'

/** Name of the boxed wrapper. */
export function wrapperName(operator: Operator): string {
  return `w_${operator.unboxedName}`
}

/** runtime/operators/generated/boxed.ts. Operators are given in table order: their position is the number in error messages. */
export function emitBoxed(operators: readonly Operator[]): string {
  const body = operators.map((operator, index) => wrapper(operator, index)).join('')
  const words = used(body, [...new Set(body.match(/\b(?:as|box|pack|count)[A-Z]?\w*(?=\()/g))].sort())
  const imports =
    (body.includes('at.') ? `import * as at from '../../backends/generated/dispatch.js'\n` : '') +
    (body.includes('composite.') ? `import * as composite from '../../backends/composite/index.js'\n` : '') +
    typeImports(body, '../../tensor') +
    importLine(words.filter((w) => w.startsWith('as')), '../unbox.js') +
    importLine(words.filter((w) => !w.startsWith('as')), '../pack.js')
  return `${banner('boxed.ts', OPERATOR_INPUTS)}${imports}\n${body}`
}

function importLine(names: readonly string[], path: string): string {
  return names.length === 0 ? '' : `import { ${names.join(', ')} } from '${path}'\n`
}

function wrapper(operator: Operator, index: number): string {
  const text = (p: Parameter): string => unboxed(operator, p, index)
  const [composite] = operator.branches
  const call = isDispatched(operator)
    ? `at.${operator.unboxedName}(${callArguments(operator, text).join(', ')})`
    : nativeCall(operator, composite!, text)
  const head = `export function ${wrapperName(operator)}(s: Stack): void {\n  ${prologue(operator, index)}\n`
  return `${head}${results(operator, call)}}\n`
}

function callArguments(operator: Operator, text: (p: Parameter) => string): string[] {
  const list = operator.parameters.map(text)
  if (operator.schema.isVararg) list.push(restArguments(operator))
  return list
}

function restArguments(operator: Operator): string {
  return `v.slice(${slot(operator.schema.arguments.length)}, b + n)`
}

/** Takes the arguments off the stack: they stay readable from `b` on. */
function prologue(operator: Operator, index: number): string {
  const count = operator.schema.arguments.length
  if (operator.schema.isVararg) {
    const rest = isDispatched(operator) ? '' : `, rest = ${restArguments(operator)}`
    return `const v = s.values, n = countVarargs(s, ${count}, ${index}), b = (s.top -= n)${rest}`
  }
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
