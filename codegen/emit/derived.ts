import { failAt } from '../error.js'
import { type Derivation, isInplace, type Operator, outNames, type Parameter } from '../model/operator.js'
import type { BuildOptions } from '../options.js'
import { isWritten, type SchemaType } from '../schema/model.js'
import { defaultLiteral } from '../types/default-value.js'
import { moduleImports, schemaComment, unboxedCall } from './dispatch.js'
import { banner, importOf, OPERATOR_INPUTS, typeImports, usesModule } from './file.js'
import { parameterList, returnType } from './signature.js'

/** runtime/operators/table/generated/derived.ts: the variants that `autogen` asks for, made of the operator they derive from. */
export function emitDerived(operators: readonly Operator[], options: BuildOptions): string {
  const body = operators.flatMap((o) => (o.derivation === null ? [] : [derivedFunction(o, o.derivation, options)])).join('\n')
  const module = (name: string, path: string): string => (usesModule(body, name) ? `import * as ${name} from '${path}'\n` : '')
  const imports =
    module('at', '../../generated/dispatch.js') +
    moduleImports(body, '../..') +
    typeImports(body, '../../../tensor') +
    importOf(body, ['copyOf', 'copyOfEach', 'each', 'optionsOf', 'scalarsOf', 'writeOut', 'writeOuts', 'zeroDim'], '../derive.js')
  return `${banner('derived.ts', OPERATOR_INPUTS)}${imports}\n${body || 'export {}\n'}`
}

/** One variant, made of the operator it derives from. */
export function derivedFunction(operator: Operator, { from, kind }: Derivation, options: BuildOptions): string {
  const call: Call = (text) => unboxedCall(from, options, text)
  const outBody = isInplace(from.schema) ? outOfInplace : outOfFunctional
  const body =
    kind === 'each'
      ? eachBody(operator, from, call, options.names.dispatched)
      : kind === 'functional'
        ? functionalBody(from, call)
        : outBody(operator, from, call)
  const head = `export function ${operator.unboxedName}(${parameterList(operator)}): ${returnType(operator)} {\n`
  return `${schemaComment(operator)}${head}${body.map((line) => `  ${line}\n`).join('')}}\n`
}

/** Calls the operator that a variant derives from, given the text of each of its parameters. */
type Call = (text: (parameter: Parameter) => string) => string

/** Computes, then copies each tensor result into its `out`. */
function outOfFunctional(operator: Operator, from: Operator, callFrom: Call): string[] {
  const known = new Set(from.parameters.map((p) => p.name))
  const outs = operator.parameters.filter((p) => p.type !== null && !known.has(p.name))
  const call = callFrom((p) =>
    p.type === null && !operator.parameters.some((q) => q.type === null) ? `optionsOf(${outs[0]!.name})` : p.name,
  )
  const writer = (out: Parameter, value: string): string => `${isList(out.type!) ? 'writeOuts' : 'writeOut'}(${out.name}, ${value})`
  if (from.schema.returns.length === 1) return [`${operator.schema.returns.length > 0 ? 'return ' : ''}${writer(outs[0]!, call)}`]
  const lines = [`const r = ${call}`]
  let next = 0
  const values = from.schema.returns.map((r, i) => (isTensors(r.type) ? writer(outs[next++]!, `r[${i}]`) : `r[${i}]`))
  if (operator.schema.returns.length === 0) return [...lines, ...values.filter((v) => v.startsWith('write'))]
  return [...lines, `return [${values.join(', ')}]`]
}

/** Copies self into `out` and runs the in-place operator there. */
function outOfInplace(operator: Operator, from: Operator, callFrom: Call): string[] {
  const out = operator.parameters.at(-1)!
  const self = from.parameters[0]!
  const list = isList(self.type!)
  const call = callFrom((p) => (p === self ? out.name : p.name))
  return [
    `${list ? 'writeOuts' : 'writeOut'}(${out.name}, ${self.name})`,
    call,
    ...(operator.schema.returns.length > 0 ? [`return ${out.name}`] : []),
  ]
}

/** Runs the operator on copies of what it writes and returns the copies after its other results. */
function functionalBody(from: Operator, callFrom: Call): string[] {
  const written = from.parameters.filter((p) => p.type !== null && isWritten(p.type))
  const copy = (p: Parameter): string => `${p.name}Copy`
  const lines = written.map((p) => `const ${copy(p)} = ${isList(p.type!) ? 'copyOfEach' : 'copyOf'}(${p.name})`)
  const call = callFrom((p) => (written.includes(p) ? copy(p) : p.name))
  const own = from.schema.returns.flatMap((r, i) => (isWritten(r.type) ? [] : [from.schema.returns.length > 1 ? `r[${i}]` : 'r']))
  const results = [...own, ...written.map(copy)]
  lines.push(own.length > 0 ? `const r = ${call}` : call)
  lines.push(results.length === 1 ? `return ${results[0]!}` : `return [${results.join(', ')}]`)
  return lines
}

/**
 * Calls the operator once per position of the list arguments. Its parameters are those of the same name, or else at the same place; what there is none for
 * keeps its default. One tensor for all positions is 0-d, or, where the operator takes a number, holds a number for each.
 */
function eachBody(operator: Operator, from: Operator, callFrom: Call, dispatched: string): string[] {
  const outs = new Set(outNames(operator.schema))
  const own = operator.parameters.filter((p) => !outs.has(p.name))
  const lists = own.filter((p) => isList(p.type!)).map((p) => p.name)
  const lines: string[] = []
  const call = callFrom((p) => {
    const atPlace = own[from.parameters.indexOf(p)]
    const isElsewhere = from.parameters.some(({ name }) => name === atPlace?.name)
    const given = own.find(({ name }) => name === p.name) ?? (isElsewhere ? undefined : atPlace)
    if (given !== undefined && isList(given.type!)) return `${given.name}[i]!`
    if (given !== undefined && isTensors(given.type!)) {
      if (isTensors(p.type!)) return `zeroDim(${given.name})`
      lines.push(`const numbers = scalarsOf(${given.name})`)
      lists.push('numbers')
      return 'numbers[i]!'
    }
    if (given !== undefined) return given.name
    const { defaultValue, type } = from.schema.arguments[p.position]!
    return (
      (defaultValue === null ? null : defaultLiteral(defaultValue, type)) ??
      failAt(operator.native.source, operator.qualifiedName, `'${p.name}' has no value`)
    )
  })
  const isWrittenFirst = isWritten(operator.schema.arguments[0]!.type)
  const applied = isWrittenFirst && !isInplace(from.schema) ? `${dispatched}copy_(${own[0]!.name}[i]!, ${call}, false)` : call
  const each = `each([${lists.join(', ')}], (i) => ${applied})`
  const [out] = outs
  return [...lines, out !== undefined ? `writeOuts(${out}, ${each})` : operator.schema.returns.length > 0 ? `return ${each}` : each]
}

function isList(type: SchemaType): boolean {
  return type.kind === 'list'
}

function isTensors(type: SchemaType): boolean {
  return type.kind === 'list' ? isTensors(type.inner) : type.kind === 'base' && type.name === 'Tensor'
}
