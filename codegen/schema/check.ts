import { defaultLiteral } from '../types/default-value.js'
import { unknownType } from '../types/known.js'
import { type AliasInfo, type Argument, aliasOf, type DefaultValue, type FunctionSchema, isOutArgument, type SchemaType } from './model.js'
import { printAlias, printType } from './printer.js'

/**
 * What is wrong with a schema that can be read: names that are no identifiers, unknown types, defaults of another type or before required
 * arguments, and alias annotations that contradict each other or what the operator's name says. null where nothing is.
 */
export function mistakeIn(schema: FunctionSchema): string | null {
  for (const check of [namesOf, typesOf, defaultsOf, aliasesOf, outForm, inplaceForm]) {
    const mistake = check(schema)
    if (mistake !== null) return mistake
  }
  return null
}

const IDENTIFIER = /^[A-Za-z_]\w*$/

function namesOf({ namespace, overload, arguments: args, returns }: FunctionSchema): string | null {
  if (namespace !== null && !IDENTIFIER.test(namespace)) return `the namespace '${namespace}' is no identifier`
  if (overload !== '' && !IDENTIFIER.test(overload)) return `the overload '${overload}' is no identifier`
  if (overload === 'default') return "the overload without a name is 'default': leave it out"
  const bad = args.find((a) => !IDENTIFIER.test(a.name))
  if (bad !== undefined) return `the argument '${bad.name}' is no identifier`
  const named = returns.flatMap((r) => r.name ?? [])
  const badResult = named.find((name) => !IDENTIFIER.test(name))
  if (badResult !== undefined) return `the result '${badResult}' is no identifier`
  const twice = named.find((name, i) => named.indexOf(name) < i)
  return twice === undefined ? null : `two results are called '${twice}'`
}

function typesOf({ arguments: args, returns }: FunctionSchema): string | null {
  for (const { type } of [...args, ...returns]) {
    const unknown = unknownType(type)
    if (unknown !== null) return `unknown type '${unknown}'`
    const mistake = badType(type)
    if (mistake !== null) return `${mistake} in '${printType(type)}'`
  }
  return null
}

/** How many parameters each generic type has. */
const PARAMETERS: Readonly<Record<string, number>> = { Dict: 2, Future: 1, RRef: 1, Await: 1 }
/** Values that are copied, so that nobody can write into them. */
const COPIED = new Set(['bool', 'complex', 'Device', 'Dimname', 'float', 'int', 'Layout', 'MemoryFormat', 'number', 'QScheme', 'Scalar', 'ScalarType', 'str', 'SymBool', 'SymInt']) // prettier-ignore

function badType(type: SchemaType): string | null {
  switch (type.kind) {
    case 'base':
      return type.alias?.write === true && COPIED.has(type.name) ? `a '${type.name}' cannot be written` : null
    case 'optional':
      return type.inner.kind === 'optional' ? 'twice optional' : badType(type.inner)
    case 'list':
      return badType(type.inner)
    case 'generic': {
      const count = PARAMETERS[type.name] ?? 1
      if (type.parameters.length !== count)
        return `'${type.name}' has ${count} parameter${count === 1 ? '' : 's'}, not ${type.parameters.length},`
      return firstOf(type.parameters, badType)
    }
    case 'tuple':
      return firstOf(type.items, badType)
  }
}

function firstOf<T>(items: readonly T[], check: (item: T) => string | null): string | null {
  for (const item of items) {
    const mistake = check(item)
    if (mistake !== null) return mistake
  }
  return null
}

const LEAST_INT = -(2n ** 63n)
const LARGEST_INT = 2n ** 63n - 1n

function defaultsOf({ arguments: args }: FunctionSchema): string | null {
  let withDefault: string | null = null
  for (const { name, type, defaultValue, kwargOnly } of args) {
    if (defaultValue === null) {
      // lists need none behind others, as PyTorch has it
      if (withDefault !== null && !kwargOnly && type.kind !== 'list')
        return `'${name}' needs a default, since '${withDefault}' before it has one`
      continue
    }
    if (!kwargOnly) withDefault ??= name
    const tooLarge = largeInt(defaultValue)
    if (tooLarge !== null) return `the default of '${name}' needs more than 64 bits: ${tooLarge}`
    const length = type.kind === 'list' && defaultValue.kind === 'list' ? defaultValue.items.length : 0
    // PyTorch itself has int[1] with defaults of two elements: one value may stand for the list there, no more is said
    if (type.kind === 'list' && type.size !== null && type.size > 1 && length > 0 && length !== type.size)
      return `the default of '${name}' has ${length} elements, '${printType(type, false)}' has ${type.size}`
    if (defaultLiteral(defaultValue, type) === null) return `the default of '${name}' is no ${printType(type, false)}`
  }
  return null
}

function largeInt(value: DefaultValue): string | null {
  if (value.kind === 'list') return firstOf(value.items, largeInt)
  if (value.kind !== 'int') return null
  const number = BigInt(value.text)
  return number < LEAST_INT || number > LARGEST_INT ? value.text : null
}

const ANYTHING = '*'

/** Each set that a result belongs to is that of an argument, written in both or in neither. */
function aliasesOf({ arguments: args, returns, isVarret }: FunctionSchema): string | null {
  const annotated = args.flatMap((argument) => {
    const alias = aliasOf(argument.type)
    return alias === null ? [] : [{ argument, alias }]
  })
  const written = new Map<string, Argument>()
  for (const { argument, alias } of annotated) {
    if (!alias.write) continue
    for (const set of alias.before) {
      if (set === ANYTHING) return `'${argument.name}' is written: '!' needs the name of an alias set`
      const other = written.get(set)
      if (other !== undefined && isTensors(other.type))
        return `'${other.name}' and '${argument.name}' are both written and of one alias set, '${set}'`
      written.set(set, argument)
    }
  }
  for (const { argument, alias } of annotated) {
    const set = alias.write ? undefined : alias.before.find((name) => written.has(name))
    if (set !== undefined)
      return `'${argument.name}' is of the alias set '${set}', which '${written.get(set)!.name}' writes, and says no '!'`
  }
  if (isVarret) return null
  for (const { type } of returns) {
    const alias = aliasOf(type)
    if (alias === null || alias.before.includes(ANYTHING)) continue
    if (alias.after !== null) return `a result has no alias set of its own behind '->': ${printAlias(alias)}`
    const sources = annotated.filter(({ alias: from }) => from.before.some((set) => alias.before.includes(set)))
    const intoSet = annotated.some(({ alias: from }) => from.after?.some((set) => set === ANYTHING || alias.before.includes(set)))
    if (sources.length === 0 && !intoSet) return `a result is of the alias set '${alias.before.join('|')}', and no argument is`
    if (alias.write && sources.some(({ alias: from }) => !from.write))
      return `a result says '!' of the alias set '${alias.before.join('|')}', which no argument writes`
    if (!alias.write && sources.some(({ alias: from }) => from.write))
      return `a result is of the alias set '${alias.before.join('|')}', which is written, and says no '!'`
  }
  return null
}

const isTensor = (type: SchemaType): boolean => type.kind === 'base' && type.name === 'Tensor'
const isTensors = (type: SchemaType): boolean => (type.kind === 'list' ? isTensors(type.inner) : isTensor(type))
const OUT_NAME = /^out\d*$/

/** Tensors to write come last, by keyword, and are the results; lists of them are no results. */
function outForm(schema: FunctionSchema): string | null {
  const { arguments: args, returns, overload } = schema
  const outs = args.filter(isOutArgument)
  const bare = args.find((a) => a.kwargOnly && OUT_NAME.test(a.name) && isTensors(a.type) && !isOutArgument(a))
  if (bare !== undefined) return `'${bare.name}' is written: it needs an alias annotation, as 'Tensor(a!) ${bare.name}'`
  if (/(?:^|_)out$/.test(overload) && outs.length === 0 && !args.some((a) => aliasOf(a.type)?.write))
    return `the overload '${overload}' writes no argument: 'Tensor(a!) out', by keyword, is missing`
  if (outs.length === 0) return null
  if (outs.every((a) => isTensor(a.type))) {
    const missing = outs.find((a, i) => !sameAlias(aliasOf(a.type), returns[i] === undefined ? null : aliasOf(returns[i].type)))
    if (missing !== undefined)
      return `'${missing.name}' is written, so result ${outs.indexOf(missing) + 1} must be '${printType(missing.type)}'`
  } else if (returns.some((r) => aliasOf(r.type) !== null)) return 'lists that are written are no results'
  return null
}

/** `relu_` writes `self` and returns it; an operator on lists returns nothing. */
function inplaceForm({ name, arguments: args, returns, namespace }: FunctionSchema): string | null {
  const [self] = args
  if ((namespace !== null && namespace !== 'aten') || !/[^_]_$/.test(name) || self === undefined) return null
  const alias = aliasOf(self.type)
  if (!(alias?.write ?? false))
    return self.name === 'self' && isTensors(self.type)
      ? `'${name}' writes '${self.name}': it must be '${printType(annotated(self.type))}'`
      : null
  if (!isTensor(self.type)) return null
  return sameAlias(alias, returns[0] === undefined ? null : aliasOf(returns[0].type))
    ? null
    : `'${self.name}' is written in place, so the first result must be '${printType(self.type)}'`
}

function annotated(type: SchemaType): SchemaType {
  return type.kind === 'list' ? { ...type, inner: annotated(type.inner) } : { ...type, alias: { before: ['a'], write: true, after: null } }
}

function sameAlias(a: AliasInfo | null, b: AliasInfo | null): boolean {
  return a !== null && b !== null && a.write === b.write && a.before.join() === b.before.join()
}
