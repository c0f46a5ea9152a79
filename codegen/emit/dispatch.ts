import type { Backend, Branch, Operator, Parameter } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { printSchema } from '../schema/printer.js'
import { isTensorLike } from '../types/typescript.js'
import { banner, importOf, OPERATOR_INPUTS, typeImports, usesModule } from './file.js'
import { branchArguments, parameterList, returnType } from './signature.js'

export const MODULE_OF: Record<Backend, string> = { CPU: 'cpu', QuantizedCPU: 'quantized', Composite: 'composite', Builtin: 'builtin' }
const PATH_OF: Record<string, string> = {
  cpu: '../cpu/index.js',
  quantized: '../quantized-cpu/index.js',
  composite: '../composite/index.js',
  builtin: '../builtin/index.js',
}
/** Highest priority first. */
const PRIORITY: readonly Backend[] = ['QuantizedCPU', 'CPU']

/** True for operators whose unboxed function is in dispatch.ts. */
export function isDispatched(operator: Operator): boolean {
  return operator.derivation === null && (operator.branches.length === 0 || operator.branches.some((b) => b.backend !== 'Composite'))
}

/** A call of the operator's unboxed function: in dispatch.ts, in derived.ts, or the composite function itself. */
export function unboxedCall(operator: Operator, text: (p: Parameter) => string, rest = 'rest'): string {
  const [branch] = operator.branches
  if (!isDispatched(operator) && branch !== undefined) return nativeCall(operator, branch, text, rest)
  const args = operator.parameters.map(text)
  if (operator.schema.isVararg) args.push(rest)
  return `${operator.derivation === null ? 'at' : 'derived'}.${operator.unboxedName}(${args.join(', ')})`
}

/** runtime/backends/generated/dispatch.ts: the unboxed functions with static dispatch. */
export function emitDispatch(operators: readonly Operator[], options: BuildOptions): string {
  const functions = operators.filter(isDispatched).map((o) => unboxedFunction(o, options))
  const body = functions.join('\n')
  const modules = Object.keys(PATH_OF).filter((name) => usesModule(body, name))
  const imports =
    modules.map((name) => `import * as ${name} from '${PATH_OF[name]!}'\n`).join('') +
    importOf(body, ['CPU', 'highestKey', 'keyOf', 'keyOfList', 'noBackend', 'QuantizedCPU'], '../key.js') +
    typeImports(body, '../../tensor')
  return `${banner('dispatch.ts', OPERATOR_INPUTS)}${imports}\n${body}`
}

function unboxedFunction(operator: Operator, options: BuildOptions): string {
  const comment = `/** ${printSchema(operator.schema)} */\n`
  const head = `export function ${operator.unboxedName}(${parameterList(operator)}): ${returnType(operator)} {\n`
  return `${comment}${head}${dispatchBody(operator, options)}}\n`
}

function dispatchBody(operator: Operator, options: BuildOptions): string {
  const branches = operator.branches.filter((b) => options.backends.has(b.backend))
  const fallback = branches.find((b) => b.backend === 'Composite')
  const keyed = PRIORITY.flatMap((key) => branches.filter((b) => b.backend === key))
  const builtin = branches.find((b) => b.backend === 'Builtin')
  if (builtin !== undefined) return `  return ${nativeCall(operator, builtin)}\n`
  if (keyed.length === 1 && fallback === undefined) return `  return ${nativeCall(operator, keyed[0]!)}\n`
  if (keyed.length === 0 && fallback !== undefined) return `  return ${nativeCall(operator, fallback)}\n`
  const key = keyExpression(operator)
  const name = `'${operator.qualifiedName}'`
  if (keyed.length === 0) return `  return noBackend(${name}, ${key})\n`
  const cases = keyed.map((b) => `    case ${b.backend}:\n      return ${nativeCall(operator, b)}\n`).join('')
  const rest = fallback === undefined ? `noBackend(${name}, key)` : nativeCall(operator, fallback)
  return `  const key = ${key}\n  switch (key) {\n${cases}    default:\n      return ${rest}\n  }\n`
}

/** The highest-priority key of all tensor arguments, lists and optional ones included. */
function keyExpression(operator: Operator): string {
  const keys = operator.parameters.flatMap((p) => {
    if (p.type === null) return []
    if (isTensorLike(p.type)) return [`keyOf(${p.name})`]
    return p.type.kind === 'list' && isTensorLike(p.type.inner) ? [`keyOfList(${p.name})`] : []
  })
  return `highestKey(${keys.join(' | ') || '0'})`
}

export function nativeCall(operator: Operator, branch: Branch, text: (p: Parameter) => string = (p) => p.name, rest = 'rest'): string {
  return `${MODULE_OF[branch.backend]}.${branch.kernel}(${branchArguments(operator, branch, text, rest).join(', ')})`
}
