import { type Operator, outNames, type Parameter } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { typescriptType } from '../types/typescript.js'
import { boxing, unboxing } from '../types/unboxing.js'
import { servesPlainOnly, targetOf, unboxedCall } from './dispatch.js'
import { banner, OPERATOR_INPUTS, typeImports } from './file.js'
import { parameterType } from './signature.js'

/** Name of an operator's own wrapper, where it has one. */
export function wrapperName(operator: Operator): string {
  return `w_${operator.unboxedName}`
}

/** runtime/operators/table/generated/boxed.ts: the boxed wrappers, one for all operators that are unboxed in the same way. */
export function emitBoxed(operators: readonly Operator[], options: BuildOptions): string {
  const wrappers = new Map(operators.map((o) => [sharedName(o, options), o]))
  const names = [...wrappers.keys()].sort()
  const body = names.map((name) => sharedWrapper(name, wrappers.get(name)!, options)).join('')
  const helpers = [...new Set(body.match(/(?<![.\w])(?:as[A-Z]\w*|give\w*|take\w*|rest)(?=\(s\b)/g))].sort()
  const imports =
    typeImports(body, '../../../tensor') +
    importLine(
      helpers.filter((h) => h.startsWith('give')),
      '../pack.js',
    ) +
    importLine(
      helpers.filter((h) => !h.startsWith('give')),
      '../unbox.js',
    )
  return `${banner('boxed.ts', OPERATOR_INPUTS)}${imports}\n${body}`
}

function importLine(names: readonly string[], path: string): string {
  return names.length === 0 ? '' : `import { ${names.join(', ')} } from '${path}'\n`
}

/**
 * Says how an operator is unboxed, called and boxed: `box_Tensor_Scalar`, `box_Tensor_Ints2__Float` for a float result, and
 * `box_Tensor_Tensor__at_0_1_0` where arguments are not handed over in their order.
 */
export function sharedName(operator: Operator, options: BuildOptions): string {
  const { isVararg, isVarret } = operator.schema
  const parts = operator.parameters.map((p) => unboxed(operator, p, options))
  const inputs = parts.map(({ helper, extra }) => helper.slice(2) + extra.join(''))
  if (isVararg) inputs.push('rest')
  const plain = [...operator.parameters.map((p) => String(p.position)), ...(isVararg ? ['rest'] : [])]
  const handed = targetOf(operator, options).arguments((p) => String(p.position), 'rest')
  const order = plain.join() === handed.join() ? '' : `__at_${handed.join('_')}`
  const givers = isVarret ? ['All'] : giversOf(operator).map((giver) => giver.slice(4))
  const results = givers.join() === '' && givers.length === 1 ? '' : `__${givers.join('_') || (givers.length === 0 ? 'none' : 'All')}`
  return `box_${inputs.join('_')}${order}${results}`
}

/** The wrapper takes the arguments off the stack, unboxes them, calls `f` and puts the results there. */
function sharedWrapper(name: string, operator: Operator, options: BuildOptions): string {
  const { schema } = operator
  const count = schema.arguments.length
  const target = targetOf(operator, options)
  const types = target.arguments((p) => parameterType(p, operator), 'Value[]').map((type, i) => `a${i}: ${type}`)
  const call = `f(${target.arguments((p) => unboxedText(operator, p, options), `rest(s, ${count}, n)`).join(', ')})`
  const taken = schema.isVararg ? `const n = takeVarargs(s, ${count})` : `s.top -= ${count}`
  const body = `${count === 0 && !schema.isVararg ? '' : `  ${taken}\n`}${results(operator, call)}`
  return `export function ${name}(s: Stack, f: (${types.join(', ')}) => ${resultType(operator)}): void {\n${body}}\n`
}

/** One operator's own wrapper. `number` is the text of the operator's number; `first` a statement to begin with. */
export function boxedFunction(operator: Operator, number: string, options: BuildOptions, first = ''): string {
  const count = operator.schema.arguments.length
  const taken = operator.schema.isVararg ? `const n = takeVarargs(s, ${count}, ${number})` : `take(s, ${count}, ${number})`
  const call = unboxedCall(operator, options, (p) => unboxedText(operator, p, options), `rest(s, ${count}, n)`)
  return `export function ${wrapperName(operator)}(s: Stack): void {\n${first}  ${taken}\n${results(operator, call)}}\n`
}

function unboxed(operator: Operator, parameter: Parameter, options: BuildOptions): ReturnType<typeof unboxing> {
  if (parameter.type === null) return { helper: 'asOptions', extra: [] }
  const { helper, extra } = unboxing(parameter.type, operator.style)
  return { helper: takesPlain(operator, parameter, options) ? (PLAIN[helper] ?? helper) : helper, extra }
}

/** A result may be copied into a quantized `out` that a variant brings along. */
function takesPlain(operator: Operator, parameter: Parameter, options: BuildOptions): boolean {
  return servesPlainOnly(operator, options) && (operator.derivation === null || !outNames(operator.schema).includes(parameter.name))
}

/** Helpers that refuse quantized tensors, which an operator with a CPU kernel alone does not know. */
const PLAIN: Record<string, string> = {
  asTensor: 'asPlainTensor',
  asTensorOrNull: 'asPlainTensorOrNull',
  asTensors: 'asPlainTensors',
  asOptionalTensors: 'asPlainOptionalTensors',
}

function unboxedText(operator: Operator, parameter: Parameter, options: BuildOptions): string {
  const { helper, extra } = unboxed(operator, parameter, options)
  return `${helper}(${['s', parameter.position, ...extra].join(', ')})`
}

function results(operator: Operator, call: string): string {
  const givers = giversOf(operator)
  if (operator.schema.isVarret) return `  giveAll(s, ${call})\n`
  if (givers.length === 0) return `  ${call}\n`
  if (givers.length === 1) return `  ${givers[0]!}(s, ${call})\n`
  if (givers.every((giver) => giver === 'give')) return `  giveAll(s, ${call})\n`
  return `  const r = ${call}\n${givers.map((giver, i) => `  ${giver}(s, r[${i}])\n`).join('')}`
}

/** What `results` needs to get, and no more: operators whose results only differ in kind share a wrapper. */
function resultType(operator: Operator): string {
  const { returns, isVarret } = operator.schema
  const givers = giversOf(operator)
  if (isVarret) return 'readonly Value[]'
  if (givers.length === 0) return 'unknown'
  if (givers.every((giver) => giver === 'give')) return givers.length === 1 ? 'Value' : 'readonly Value[]'
  const types = returns.map((r, i) => (givers[i] === 'give' ? 'Value' : typescriptType(r.type, operator.style)))
  return types.length === 1 ? types[0]! : `[${types.join(', ')}]`
}

type Giver = (typeof GIVERS)[keyof typeof GIVERS]

function giversOf(operator: Operator): Giver[] {
  return operator.schema.returns.map((r) => GIVERS[boxing(r.type, operator.style)])
}

const GIVERS = { asIs: 'give', float: 'giveFloat', floatOrNull: 'giveFloatOrNull', floats: 'giveFloats' } as const
