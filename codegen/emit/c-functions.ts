import type { Bound, CFunction } from '../c-functions/bind.js'
import type { CParameter, CType } from '../c-functions/prototype.js'
import { isName } from '../c-functions/sizes.js'
import { identifier } from '../model/native-function.js'
import { type Argument, aliasOf, isWritten } from '../schema/model.js'
import { typescriptReturn, typescriptType } from '../types/typescript.js'
import { type CustomFile, customBanner } from './custom.js'

const STYLE = { builtin: false, complex: false } as const

/** c_functions.ts: a function for each operator that a function in C serves, which checks the arguments, makes the results and calls it. */
export function emitCFunctions(functions: readonly CFunction[], file: CustomFile): string {
  return `${customBanner(file)}import { fileURLToPath } from 'node:url'
import koffi from 'koffi'
import { custom, type Tensor } from 'ptlite'

const { c: $c, dtypes: $dtypes } = custom
const $at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

${functions.map(functionText).join('\n')}`
}

// what is not the schema's begins with $, which no name of it can
const local = (name: string): string => `$${name}`

function functionText(f: CFunction): string {
  const { prototype, schema } = f
  const types = prototype.parameters.map(({ type, isPointer }) => `'${isPointer ? 'void *' : type.koffi}'`)
  const parameters = schema.arguments.map(({ name, type }) => `${identifier(name)}: ${typescriptType(type, STYLE)}`)
  const body = f.bound.some(({ from }) => from === 'element') ? elementsBody(f) : tensorsBody(f)
  return `/** ${prototype.text} */
const ${local(f.kernel)} = $c.declare(koffi, ${libraryText(f.library)}, '${prototype.name}', '${prototype.result?.koffi ?? 'void'}', [${types.join(', ')}])

export function ${f.kernel}(${parameters.join(', ')}): ${typescriptReturn(schema.returns, false, STYLE)} {
  const $op = '${f.qualifiedName}'
${body.map((line) => `  ${line}\n`).join('')}}
`
}

/** A name is left to the system, a path is one from the generated file. */
function libraryText(library: CFunction['library']): string {
  if (typeof library !== 'string') {
    const rows = Object.entries(library).map(([platform, path]) => `${JSON.stringify(platform)}: ${libraryText(path)}`)
    return `{ ${rows.join(', ')} }`
  }
  const text = JSON.stringify(library)
  return /^\.{1,2}\//.test(library) ? `$at(${text})` : text
}

function elementsBody({ bound, prototype, kernel }: CFunction): string[] {
  const operands = prototype.parameters.map((parameter, i) => {
    const to = bound[i]!
    if (to.from === 'element')
      return `{ name: '${parameter.name}', tensor: ${identifier(parameter.name)}, type: ${dtypeText(parameter.type)} }`
    return valueText(parameter, to)
  })
  return [`return $c.elements($op, ${local(kernel)}(), [${operands.join(', ')}], ${dtypeText(prototype.result!)})`]
}

function tensorsBody(f: CFunction): string[] {
  const { schema, prototype, bound, results } = f
  const pointers = prototype.parameters.filter((_, i) => bound[i]!.from === 'tensor')
  const written = pointers.filter(({ isConst }) => !isConst).map(({ name }) => name)
  const call = `${local(f.kernel)}()(${prototype.parameters.map((p, i) => argumentText(p, bound[i]!, schema.arguments)).join(', ')})`
  const changed = [...written, ...results.keys()].map(local)
  const checked = prototype.result === null ? call : `$c.checkStatus($op, ${call})`
  const lines = [
    ...pointers.map((p) => denseText(p, schema.arguments)),
    ...shapeChecks(f),
    ...[...results].map(([name, type]) => `const ${local(name)} = custom.empty(${resultShape(f, name)}, ${dtypeText(type)})`),
  ]
  if (changed.length === 0) return [...lines, `return $c.${givenBy(schema.returns[0]!.type)}($op, ${call})`]
  return [
    ...lines,
    `if (${changed.map((name) => `${name}.numel > 0`).join(' || ')}) ${checked}`,
    ...written.map((name) => `$c.finish(${identifier(name)}, ${local(name)})`),
    ...returnLine(f),
  ]
}

function givenBy(type: Argument['type']): string {
  return type.kind === 'base' && type.name === 'bool'
    ? 'givenBool'
    : type.kind === 'base' && type.name === 'float'
      ? 'givenFloat'
      : 'givenInt'
}

function returnLine({ schema, results }: CFunction): string[] {
  const names = [...results.keys()]
  const values = schema.returns.map(({ type }) => {
    if (!isWritten(type)) return local(names.shift()!)
    const set = aliasOf(type)!.before.join()
    return identifier(schema.arguments.find((a) => aliasOf(a.type)?.before.join() === set)!.name)
  })
  if (values.length === 0) return []
  return [`return ${values.length === 1 ? values[0]! : `[${values.join(', ')}]`}`]
}

function isOptional(name: string, declared: readonly Argument[]): boolean {
  return declared.find((a) => a.name === name)!.type.kind === 'optional'
}

function denseText({ name, type }: CParameter, declared: readonly Argument[]): string {
  const value = `$c.dense($op, '${name}', ${identifier(name)}, ${dtypeText(type)})`
  return `const ${local(name)} = ${isOptional(name, declared) ? `${identifier(name)} === null ? null : ${value}` : value}`
}

function argumentText(parameter: CParameter, to: Bound, declared: readonly Argument[]): string {
  if (to.from === 'result') return `${local(to.name)}.address`
  if (to.from === 'tensor')
    return isOptional(parameter.name, declared) ? `${local(parameter.name)}?.address ?? null` : `${local(parameter.name)}.address`
  return valueText(parameter, to)
}

function valueText({ name, type }: CParameter, to: Bound): string {
  const value = to.from === 'size' ? local(name) : identifier(name)
  if (to.from === 'list') return `$c.numbers($op, '${name}', ${value}, '${type.koffi}')`
  if (type.kind === 'text') return `$c.text($op, '${name}', ${value})`
  return type.kind === 'integer' ? `$c.integer($op, '${name}', ${value}, ${type.bits}, ${type.isSigned})` : value
}

function dtypeText(type: CType): string {
  return `$dtypes.${type.dtype!}`
}

/** Names of the schema's ints are its parameters; others were made by tensors. */
function sizeText(text: string, { schema }: CFunction): string {
  return text.replace(/[A-Za-z_]\w*/g, (name) => (schema.arguments.some((a) => a.name === name) ? identifier(name) : local(name)))
}

/** Whether the function gets the elements of an argument. */
function isPassed({ bound }: CFunction, argument: Argument): boolean {
  return bound.some((b) => b.from === 'tensor' && b.argument === argument)
}

function shapeChecks(f: CFunction): string[] {
  const tensors = f.schema.arguments.filter((a) => isPassed(f, a))
  const known = new Set(f.schema.arguments.map(({ name }) => name))
  const first = tensors[0]?.name
  return tensors.flatMap(({ name, type }) => {
    const rule = f.shapes.get(name)
    const tensor = identifier(name)
    const about = `$op, '${name}', ${tensor}`
    const lines: string[] = []
    const sized = (text: string, found: string, check: (expected: string) => string): void => {
      if (isName(text) && !known.has(text)) lines.push(`const ${local(text)} = ${found}`)
      else lines.push(check(sizeText(text, f)))
      known.add(text)
    }
    if (rule === undefined) {
      if (name !== first) lines.push(`$c.checkShape(${about}, ${identifier(first!)}.shape)`)
    } else if (typeof rule === 'string') sized(rule, `${tensor}.numel`, (n) => `$c.checkCount(${about}, ${n})`)
    else {
      lines.push(`$c.checkRank(${about}, ${rule.length})`)
      rule.forEach((text, d) => sized(text, `${tensor}.shape[${d}]!`, (n) => `$c.checkSize(${about}, ${d}, ${n})`))
    }
    if (type.kind === 'optional' && lines.length > 0) return [`if (${tensor} !== null) {`, ...lines.map((line) => `  ${line}`), '}']
    return lines
  })
}

/** That of the argument with the same name for its elements, or of the first tensor without a rule. */
function resultShape(f: CFunction, name: string): string {
  const rule = f.shapes.get(name)
  if (rule !== undefined && typeof rule !== 'string') return `[${rule.map((text) => sizeText(text, f)).join(', ')}]`
  const like = f.schema.arguments.find((a) => (rule === undefined ? isPassed(f, a) : f.shapes.get(a.name) === rule))
  return like === undefined ? `[${sizeText(rule!, f)}]` : `${identifier(like.name)}.shape`
}
