import { failAt } from '../error.js'
import type { Operator } from '../model/operator.js'
import { aliasOf, type Argument, type FunctionSchema, isOutArgument, type SchemaType } from '../schema/model.js'
import { printAlias, printType } from '../schema/printer.js'
import { banner, OPERATOR_INPUTS } from './file.js'
import { defaultLiteral } from '../types/default-value.js'
import { packedLiteral, packNumber, packNumbers } from './packed.js'

/** Flags of an item. */
const KWARG_ONLY = 1
const OUT = 2
const ALIAS_LAST = 4
/** Items that one character stands for in a signature: the most frequent ones. */
const SHORT = 52

/** Distinct texts and how often each came. */
class Pool {
  private readonly counts = new Map<string, number>()

  /** `first` comes first whatever its count is. */
  constructor(private readonly first: readonly string[] = []) {
    for (const item of first) this.counts.set(item, 0)
  }

  add(item: string): string {
    this.counts.set(item, (this.counts.get(item) ?? 0) + 1)
    return item
  }

  /** The most frequent one first. */
  items(): string[] {
    const others = [...this.counts].filter(([item]) => !this.first.includes(item))
    return [...this.first, ...others.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([item]) => item)]
  }
}

/** An argument or return as it stands in a signature. */
interface Item {
  readonly name: string
  readonly type: string
  readonly alias: string
  /** Text of the default's value. */
  readonly defaultValue: string
  readonly flags: number
}

interface Signature {
  readonly args: readonly Item[]
  readonly returns: readonly Item[]
  readonly schema: FunctionSchema
}

const UNDEFINED = 'undefined'
/** What a signature returns where it does not say. */
const TENSOR: Item = { name: '', type: 'Tensor', alias: '', defaultValue: UNDEFINED, flags: 0 }

/** runtime/operators/table/generated/schemas.ts: prebuilt schemas as texts of a few characters into pools. */
export function emitSchemas(operators: readonly Operator[]): string {
  const signatures = operators.map(signatureOf)
  const distinct = new Map<string, Item>()
  const uses = new Pool()
  for (const { args, returns } of signatures) {
    for (const item of [...args, ...returns]) distinct.set(uses.add(keyOf(item)), item)
  }
  // equal names beside each other compress better; short codes matter more
  const byUse = uses.items()
  const order = [...byUse.slice(0, SHORT), ...byUse.slice(SHORT).sort()]
  const [types, aliases, defaults] = [new Pool(), new Pool(['']), new Pool([UNDEFINED])]
  for (const { type, alias, defaultValue } of distinct.values()) {
    types.add(type)
    aliases.add(alias)
    defaults.add(defaultValue)
  }
  const pools = [types.items(), aliases.items(), defaults.items()] as const
  const numbers = new Map(order.map((key, i) => [key, i]))
  const code = (item: Item): string => packNumber(numbers.get(keyOf(item))!)
  return `${banner('schemas.ts', OPERATOR_INPUTS)}import { Float } from '../../../tensor/scalar.js'

/** Types without alias annotations. */
export const types: readonly string[] = [${pools[0].map(quoted).join(', ')}]
/** Alias annotations; the first stands for "none". */
export const aliases: readonly string[] = [${pools[1].map(quoted).join(', ')}]
/** Default values; the first stands for "none". */
export const defaults: readonly unknown[] = [${pools[2].join(', ')}]
/** The distinct arguments and returns: a name, then after '!' packed type, alias, default and flags (1 keyword-only, 2 out, 4 alias annotation after the whole type). */
export const items = ${packedLiteral(order.map((key) => itemText(distinct.get(key)!, pools)).join(' '))}
/** Per operator the packed items of its arguments and, after '!', of its returns, one Tensor where there is none; '#' is '...'. */
export const signatures = ${packedLiteral(signatures.map((s) => signatureText(s, code)).join(' '))}
`
}

/**
 * Stands for runtime/operators/table/decode-schema.ts where operators are few: their schemas as they are, without what only texts of schemas
 * tell (alias annotations, keyword-only arguments, names of results).
 */
export function emitPlainSchemas(operators: readonly Operator[]): string {
  const rows = operators.map(signatureOf).map(({ args, returns, schema }) => {
    const isTensor = returns.length === 1 && returns[0]!.type === TENSOR.type
    const fields = [list(args.map(plainArgument)), isTensor ? '' : list(returns.map(({ type }) => quoted(type)))]
    return list(trimmed([...fields, schema.isVararg ? 'true' : '', schema.isVarret ? 'true' : '']))
  })
  return `${banner('schemas.ts', OPERATOR_INPUTS)}import { Float } from '../../tensor/scalar.js'

const SCHEMAS = ${list(rows)}

export function decodeSchema(index) {
  const [args, returns = ['${TENSOR.type}'], isVararg = false, isVarret = false] = SCHEMAS[index]
  return {
    arguments: args.map(([name, type, defaultValue, isOut = false]) => ({ name, type, defaultValue, isOut })),
    returns: returns.map((type) => ({ type })),
    isVararg,
    isVarret,
  }
}
`
}

function plainArgument({ name, type, defaultValue, flags }: Item): string {
  const isOut = (flags & OUT) !== 0
  return list(trimmed([quoted(name), quoted(type), defaultValue === UNDEFINED ? '' : defaultValue, isOut ? 'true' : '']))
}

const list = (items: readonly string[]): string => `[${items.join(', ')}]`

/** Without empty items at the end. */
function trimmed(items: readonly string[]): string[] {
  return items.slice(0, items.findLastIndex((item) => item !== '') + 1)
}

function itemText(item: Item, [types, aliases, defaults]: readonly (readonly string[])[]): string {
  const numbers = [types!.indexOf(item.type), aliases!.indexOf(item.alias), defaults!.indexOf(item.defaultValue), item.flags]
  return `${item.name}!${packNumbers(numbers)}`
}

function signatureText({ args, returns, schema }: Signature, code: (item: Item) => string): string {
  const taken = `${args.map(code).join('')}${schema.isVararg ? '#' : ''}`
  if (returns.length === 1 && keyOf(returns[0]!) === keyOf(TENSOR)) return taken
  return `${taken}!${returns.map(code).join('')}${schema.isVarret ? '#' : ''}`
}

function signatureOf(operator: Operator): Signature {
  const { schema } = operator
  return {
    args: schema.arguments.map((a) => argumentItem(a, operator)),
    returns: schema.returns.map((r) => itemOf(r.name ?? '', r.type, UNDEFINED, 0)),
    schema,
  }
}

function argumentItem(argument: Argument, operator: Operator): Item {
  const flags = (argument.kwargOnly ? KWARG_ONLY : 0) | (isOutArgument(argument) ? OUT : 0)
  const literal = argument.defaultValue === null ? UNDEFINED : defaultLiteral(argument.defaultValue, argument.type)
  if (literal === null) failAt(operator.native.source, operator.qualifiedName, `the default of '${argument.name}' does not fit its type`)
  return itemOf(argument.name, argument.type, literal, flags)
}

function itemOf(name: string, type: SchemaType, defaultValue: string, flags: number): Item {
  const alias = aliasOf(type)
  return {
    name,
    type: printType(type, false),
    alias: alias === null ? '' : printAlias(alias).slice(1, -1),
    defaultValue,
    // Tensor(a!)[] has it on the element, t[](a!) on the list
    flags: type.kind !== 'base' && type.alias !== null ? flags | ALIAS_LAST : flags,
  }
}

function keyOf({ name, type, alias, defaultValue, flags }: Item): string {
  return [name, type, alias, defaultValue, flags].join('\n')
}

function quoted(text: string): string {
  return `'${text}'`
}
