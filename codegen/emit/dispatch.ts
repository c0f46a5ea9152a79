import { type Backend, BACKEND_FOLDERS, type Branch, type Operator, type Parameter } from '../model/operator.js'
import { type BuildOptions, tableOf, TABLES } from '../options.js'
import { printSchema } from '../schema/printer.js'
import { isTensorLike } from '../types/unboxing.js'
import { banner, importOf, OPERATOR_INPUTS, typeImports, usesModule } from './file.js'
import { branchArguments, parameterList, returnType } from './signature.js'

/** Highest priority first. */
const PRIORITY: readonly Backend[] = ['QuantizedCPU', 'CPU']

/** True for operators whose unboxed function is in dispatch.ts. */
export function isDispatched(operator: Operator): boolean {
  return operator.derivation === null && (operator.branches.length === 0 || operator.branches.some((b) => b.backend !== 'Composite'))
}

/** The one branch that serves an operator whatever its arguments are; undefined where a key decides. */
export function soleBranch(operator: Operator, options: BuildOptions): Branch | undefined {
  const branches = operator.branches.filter((b) => options.backends.has(b.backend))
  return branches.length === 1 ? branches[0] : branches.find((b) => b.backend === 'Builtin')
}

/**
 * True for an operator that only a CPU kernel serves although the build has quantized tensors; for a variant, if that is so of
 * the operator it derives from.
 */
export function servesPlainOnly(operator: Operator, options: BuildOptions): boolean {
  const { branches } = operator.derivation?.from ?? operator
  return options.backends.has('QuantizedCPU') && branches.length > 0 && branches.every((b) => b.backend === 'CPU')
}

/** What serves an operator: its native function where only one can, else the unboxed function. */
export interface Target {
  /** `cpu.add_out` */
  readonly name: string
  /** What it takes, given the text of each parameter. */
  readonly arguments: (text: (p: Parameter) => string, rest: string) => string[]
}

export function targetOf(operator: Operator, options: BuildOptions): Target {
  const branch = operator.derivation === null ? soleBranch(operator, options) : undefined
  if (branch !== undefined) {
    return { name: nativeName(branch, options), arguments: (text, rest) => branchArguments(operator, branch, text, rest) }
  }
  const prefix = operator.derivation === null ? options.names.dispatched : options.names.derived
  return {
    name: `${prefix}${operator.unboxedName}`,
    arguments: (text, rest) => [...operator.parameters.map(text), ...(operator.schema.isVararg ? [rest] : [])],
  }
}

/** A call of an operator's target. */
export function unboxedCall(operator: Operator, options: BuildOptions, text: (p: Parameter) => string, rest = 'rest'): string {
  const target = targetOf(operator, options)
  return `${target.name}(${target.arguments(text, rest).join(', ')})`
}

const DISPATCH = 'runtime/operators/generated/dispatch'

/** runtime/operators/generated/dispatch.ts: the unboxed functions with static dispatch; where operators are in several tables, in a file for each behind it. */
export function dispatchFiles(operators: readonly Operator[], options: BuildOptions): [string, string][] {
  if (options.common === undefined) return [[`${DISPATCH}.ts`, emitDispatch(operators, options)]]
  return [
    [`${DISPATCH}.ts`, banner('dispatch.ts', OPERATOR_INPUTS) + TABLES.map((table) => `export * from './dispatch-${table}.js'\n`).join('')],
    ...TABLES.map((table): [string, string] => [
      `${DISPATCH}-${table}.ts`,
      emitDispatch(operators, options, (o) => tableOf(o, options) === table),
    ]),
  ]
}

export function emitDispatch(operators: readonly Operator[], options: BuildOptions, isIn = (_: Operator): boolean => true): string {
  // positions in the table, of builds that leave no operator out
  const functions = operators.flatMap((o, i) =>
    isDispatched(o) && isIn(o) ? [unboxedFunction(o, options, options.notesCalls === true ? `  noteCall(${i})\n` : '')] : [],
  )
  const body = functions.join('\n')
  const imports =
    moduleImports(body, '..') +
    importOf(body, ['noteCall'], '../called.js') +
    importOf(body, ['CPU', 'highestKey', 'keyOf', 'keyOfList', 'noBackend', 'QuantizedCPU', 'refuseQuantized'], '../key.js') +
    typeImports(body, '../../tensor')
  return `${banner('dispatch.ts', OPERATOR_INPUTS)}${imports}\n${body}`
}

/** Imports of the backend modules in use; `operators` is the path of runtime/operators. */
export function moduleImports(code: string, operators: string): string {
  const modules = [...BACKEND_FOLDERS.values()].filter((name) => usesModule(code, name))
  return modules.map((name) => `import * as ${name} from '${operators}/${name}/index.js'\n`).join('')
}

/** The schema as a comment, which no text in it ends. */
export function schemaComment({ schema }: Operator): string {
  return `/** ${printSchema(schema).replaceAll('*/', '*\\/')} */\n`
}

/** The unboxed function of one operator, with its dispatch; `first` stands before it. */
export function unboxedFunction(operator: Operator, options: BuildOptions, first = ''): string {
  const head = `export function ${operator.unboxedName}(${parameterList(operator)}): ${returnType(operator)} {\n`
  return `${schemaComment(operator)}${head}${first}${dispatchBody(operator, options)}}\n`
}

function dispatchBody(operator: Operator, options: BuildOptions): string {
  const sole = soleBranch(operator, options)
  if (sole !== undefined) return `${refusal(operator, options)}  return ${nativeCall(operator, sole, options)}\n`
  const branches = operator.branches.filter((b) => options.backends.has(b.backend))
  const fallback = branches.find((b) => b.backend === 'Composite')
  const keyed = PRIORITY.flatMap((key) => branches.filter((b) => b.backend === key))
  const key = keyExpression(operator)
  const name = `'${operator.qualifiedName}'`
  if (keyed.length === 0) return `  return noBackend(${name}, ${key})\n`
  const cases = keyed.map((b) => `    case ${b.backend}:\n      return ${nativeCall(operator, b, options)}\n`).join('')
  const rest = fallback === undefined ? `noBackend(${name}, key)` : nativeCall(operator, fallback, options)
  return `  const key = ${key}\n  switch (key) {\n${cases}    default:\n      return ${rest}\n  }\n`
}

/** The highest-priority key of all tensor arguments, lists and optional ones included. */
function keyExpression(operator: Operator): string {
  return `highestKey(${keysOf(operator).join(' | ') || '0'})`
}

function keysOf(operator: Operator): string[] {
  return operator.parameters.flatMap((p) => {
    if (p.type === null) return []
    if (isTensorLike(p.type)) return [`keyOf(${p.name})`]
    return p.type.kind === 'list' && isTensorLike(p.type.inner) ? [`keyOfList(${p.name})`] : []
  })
}

/** A CPU kernel would take the integers of a quantized tensor for its numbers. */
function refusal(operator: Operator, options: BuildOptions): string {
  const keys = servesPlainOnly(operator, options) ? keysOf(operator) : []
  return keys.length === 0 ? '' : `  refuseQuantized('${operator.qualifiedName}', ${keys.join(' | ')})\n`
}

function nativeCall(operator: Operator, branch: Branch, options: BuildOptions): string {
  return `${nativeName(branch, options)}(${branchArguments(operator, branch, (p) => p.name).join(', ')})`
}

function nativeName(branch: Branch, options: BuildOptions): string {
  return `${options.names.modules[branch.backend]}.${branch.kernel}`
}
