import { failAt, type Source } from '../error.js'
import { type Argument, type FunctionSchema, isWritten, qualifiedName, type SchemaType } from '../schema/model.js'
import { printType } from '../schema/printer.js'
import type { Entry, Field } from '../yaml-file.js'
import { type CParameter, type CType, parsePrototype, type Prototype } from './prototype.js'
import { isName, namesIn, type ShapeRule, textsOf } from './sizes.js'

/** Where the value of a parameter of C comes from. */
export type Bound =
  | { readonly from: 'tensor' | 'scalar' | 'list' | 'element'; readonly argument: Argument }
  | { readonly from: 'result'; readonly name: string }
  | { readonly from: 'size'; readonly name: string }

/** An operator that is a function of a shared library. */
export interface CFunction {
  readonly schema: FunctionSchema
  readonly qualifiedName: string
  /** Its name in the generated module. */
  readonly kernel: string
  /** A file, or one for each platform by Node's name of it. */
  readonly library: string | Readonly<Record<string, string>>
  readonly prototype: Prototype
  /** By parameter. */
  readonly bound: readonly Bound[]
  /** By argument or result, in the order of the arguments. */
  readonly shapes: ReadonlyMap<string, ShapeRule>
  /** New tensors that it writes, by name. */
  readonly results: ReadonlyMap<string, CType>
}

const KEYS = ['c', 'library', 'shapes']
const OTHERS = ['dispatch', 'structured', 'structured_delegate', 'foreach', 'autogen']

/** Whether an entry names a function of C. */
export function isCFunction(entry: Entry): boolean {
  return entry.fields.some(({ key }) => key === 'c')
}

/** The entry as others of the file are, served by a function of the generated module. */
export function withoutC(entry: Entry): Entry {
  const name = String(entry.fields.find(({ key }) => key === 'func')?.value ?? 'entry').split('(')[0]!
  const other = entry.fields.find(({ key }) => OTHERS.includes(key))
  if (other !== undefined) failAt(other.source, name, `'${other.key}' has no meaning beside 'c'`)
  const fields = entry.fields.filter(({ key }) => !KEYS.includes(key))
  return { ...entry, fields: [...fields, { key: 'dispatch', value: { CPU: kernelOf(name) }, source: entry.source }] }
}

function kernelOf(name: string): string {
  return (name.includes('::') ? name : `aten::${name}`).replace(/::|\./g, '_')
}

/** What the keys of an entry say of its function in C. Throws CodegenError naming file, line and operator. */
export function bindCFunction(entry: Entry, schema: FunctionSchema): CFunction {
  const name = qualifiedName(schema)
  const fields = new Map(entry.fields.map((field) => [field.key, field]))
  const guarded = <T>(field: Field, read: () => T): T => {
    try {
      return read()
    } catch (error) {
      failAt(field.source, name, (error as Error).message, error)
    }
  }
  const c = fields.get('c')!
  const shapes = fields.get('shapes')
  const library = libraryOf(fields.get('library'), entry.source, name)
  const prototype = guarded(c, () => parsePrototype(String(c.value)))
  return guarded(shapes ?? c, () => {
    const results = resultsOf(schema)
    const rules = shapesOf(shapes?.value ?? {}, schema, results)
    const bound = prototype.parameters.map((parameter) => bind(parameter, schema, results, rules))
    checkReturns(schema, prototype, bound, results)
    checkUse(schema, bound, rules)
    return {
      schema,
      qualifiedName: name,
      kernel: kernelOf(name),
      library,
      prototype,
      bound,
      shapes: rules,
      results: new Map(
        prototype.parameters.flatMap(({ type }, i) => {
          const to = bound[i]!
          return to.from === 'result' ? [[to.name, type] as const] : []
        }),
      ),
    }
  })
}

function libraryOf(field: Field | undefined, source: Source, name: string): CFunction['library'] {
  const value = field?.value
  if (typeof value === 'string' && value !== '') return value
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isMap && Object.values(value).length > 0 && Object.values(value).every((path) => typeof path === 'string')) {
    return value as Record<string, string>
  }
  failAt(
    field?.source ?? source,
    name,
    "'library' must be a file, or a map of files by platform: { linux: libm.so.6, darwin: libSystem.dylib }",
  )
}

/** Names of the tensors that an operator gives and that are no arguments: `out` where there is one without a name. */
function resultsOf({ returns }: FunctionSchema): string[] {
  const made = returns.filter(({ type }) => isTensor(type) && !isWritten(type))
  return made.map(({ name }, i) => name ?? (made.length === 1 ? 'out' : `out${i}`))
}

function isTensor(type: SchemaType): boolean {
  return type.kind === 'base' ? type.name === 'Tensor' : type.kind === 'optional' && isTensor(type.inner)
}

function shapesOf(value: unknown, schema: FunctionSchema, results: readonly string[]): Map<string, ShapeRule> {
  const tensors = [...schema.arguments.filter(({ type }) => isTensor(type)).map(({ name }) => name), ...results]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error("'shapes' must be a map of tensors")
  const given = new Map<string, unknown>(Object.entries(value))
  const unknown = [...given.keys()].find((name) => !tensors.includes(name))
  if (unknown !== undefined) throw new Error(`'shapes' names no tensor: '${unknown}'; there is ${tensors.join(', ')}`)
  const known = new Set(schema.arguments.filter(({ type }) => isWhole(type)).map(({ name }) => name))
  const rules = new Map<string, ShapeRule>()
  for (const tensor of tensors) {
    if (!given.has(tensor)) continue
    const rule = ruleOf(given.get(tensor), tensor)
    for (const text of textsOf(rule)) {
      const isFirst = isName(text) && !known.has(text)
      const strange = isFirst ? undefined : namesIn(text).find((name) => !known.has(name))
      if (strange !== undefined) throw new Error(`'shapes': no tensor before '${tensor}' has a size '${strange}'`)
      if (!isFirst) continue
      const owner = schema.arguments.find(({ name }) => name === tensor)
      if (owner === undefined) throw new Error(`'shapes': the size '${text}' of the result '${tensor}' is no argument's`)
      if (owner.type.kind === 'optional') throw new Error(`'shapes': '${tensor}' may be absent, and '${text}' with it`)
      if ([...schema.arguments.map(({ name }) => name), ...results].includes(text)) throw new Error(`'shapes': '${text}' is no int`)
      known.add(text)
    }
    rules.set(tensor, rule)
  }
  return rules
}

function ruleOf(value: unknown, tensor: string): ShapeRule {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  const texts = items.map((item) => (typeof item === 'number' ? String(item) : item))
  if (!texts.every((item) => typeof item === 'string')) throw new Error(`'shapes': '${tensor}' needs a name, or a list of sizes`)
  if (Array.isArray(value)) return texts
  if (!isName(texts[0]!)) throw new Error(`'shapes': '${tensor}' needs a name for all of its elements, or a list of sizes`)
  return texts[0]!
}

function isWhole(type: SchemaType): boolean {
  return type.kind === 'base' && (type.name === 'int' || type.name === 'SymInt')
}

function sizesOf(rules: ReadonlyMap<string, ShapeRule>): Set<string> {
  return new Set([...rules.values()].flatMap((rule) => textsOf(rule).filter(isName)))
}

function bind(parameter: CParameter, schema: FunctionSchema, results: readonly string[], rules: ReadonlyMap<string, ShapeRule>): Bound {
  const { name, isPointer, isConst } = parameter
  const argument = schema.arguments.find((a) => a.name === name)
  if (argument === undefined) {
    if (results.includes(name)) {
      if (!isPointer || isConst) throw new Error(`the result '${name}' needs a pointer that is written to`)
      return { from: 'result', name }
    }
    if (!sizesOf(rules).has(name))
      throw new Error(`the parameter '${name}' is no argument, result or size; name it so, or name it in 'shapes'`)
    if (isPointer || parameter.type.kind !== 'integer') throw new Error(`the size '${name}' needs an integer`)
    return { from: 'size', name }
  }
  const { type } = argument
  if (isTensor(type)) {
    if (isPointer && isConst === isWritten(type)) {
      throw new Error(
        isConst ? `'${name}' is written to, and its pointer is const` : `'${name}' is not written to: its pointer must be const`,
      )
    }
    if (!isPointer && (parameter.type.dtype === null || isWritten(type) || type.kind === 'optional')) {
      throw new Error(`'${name}' is a tensor: it needs a pointer`)
    }
    return { from: isPointer ? 'tensor' : 'element', argument }
  }
  if (type.kind === 'list') {
    if (!isPointer || !isConst || !fits(type.inner, parameter.type))
      throw new Error(`'${name}' is ${printType(type)}: it needs a const pointer to such numbers`)
    return { from: 'list', argument }
  }
  if (isPointer || !fits(type, parameter.type))
    throw new Error(`'${name}' is ${printType(type)}, which '${parameter.type.koffi}${isPointer ? ' *' : ''}' does not take`)
  return { from: 'scalar', argument }
}

/** Whether a value of the schema's type is one of C's. */
function fits(type: SchemaType, c: CType): boolean {
  if (type.kind !== 'base') return false
  const kinds: Readonly<Record<string, CType['kind']>> = { int: 'integer', SymInt: 'integer', float: 'floating', bool: 'bool', str: 'text' }
  return kinds[type.name] === c.kind
}

function checkReturns({ returns }: FunctionSchema, { result }: Prototype, bound: readonly Bound[], results: readonly string[]): void {
  const written = new Set(bound.flatMap((b) => (b.from === 'result' ? [b.name] : [])))
  const isElementwise = bound.some(({ from }) => from === 'element')
  const [single] = returns
  if (isElementwise) {
    if (bound.some(({ from }) => from !== 'element' && from !== 'scalar')) throw new Error('a function of elements takes numbers alone')
    const gives = returns.length === 1 && single!.type.kind === 'base' && single!.type.name === 'Tensor' && !isWritten(single!.type)
    if (!gives || result === null || result.dtype === null)
      throw new Error('a function of elements gives a number, and its operator a tensor')
    return
  }
  const isScalar = returns.length === 1 && single!.type.kind === 'base' && !isTensor(single!.type)
  if (isScalar) {
    if (result === null || !fits(single!.type, result) || result.kind === 'text')
      throw new Error(`the function does not give ${printType(single!.type)}`)
    return
  }
  if (returns.some(({ type }) => type.kind !== 'base' || !isTensor(type)))
    throw new Error('an operator in C gives tensors, or one int, float or bool')
  if (result !== null && result.kind !== 'integer')
    throw new Error('a function that writes tensors gives nothing, or an integer that is not 0 where it fails')
  const missing = results.find((name) => !written.has(name))
  if (missing !== undefined) throw new Error(`no parameter of the function is the result '${missing}'`)
}

function checkUse(schema: FunctionSchema, bound: readonly Bound[], rules: ReadonlyMap<string, ShapeRule>): void {
  const used = new Set<string>([
    ...bound.map((b) => ('argument' in b ? b.argument.name : b.name)),
    ...[...rules.values()].flatMap((rule) => textsOf(rule).flatMap(namesIn)),
  ])
  const idle = schema.arguments.find(({ name }) => !used.has(name))
  if (idle !== undefined) throw new Error(`no parameter of the function is the argument '${idle.name}'`)
  if (schema.isVararg || schema.isVarret) throw new Error("'...' cannot be given to a function in C")
}
