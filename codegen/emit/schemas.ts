import { failAt } from '../error.js'
import type { Operator } from '../model/operator.js'
import { aliasOf, type Argument, type FunctionSchema, isOutArgument, type SchemaType } from '../schema/model.js'
import { printAlias, printType } from '../schema/printer.js'
import { banner, OPERATOR_INPUTS } from './file.js'
import { defaultLiteral } from './default-value.js'

/** Flags of an argument in the generated data. */
const KWARG_ONLY = 1
const OUT = 2
const ALIAS_LAST = 4
/** Flags of a signature. */
const VARARG = 1
const VARRET = 2

/** Keeps one copy of each item and says where it is. */
class Pool {
  readonly items: string[] = []
  private readonly index = new Map<string, number>()

  add(item: string): number {
    let at = this.index.get(item)
    if (at === undefined) {
      at = this.items.length
      this.items.push(item)
      this.index.set(item, at)
    }
    return at
  }
}

/** runtime/operators/generated/schemas.ts: prebuilt schemas as flat arrays of numbers into a few pools. */
export function emitSchemas(operators: readonly Operator[]): string {
  const encoder = new Encoder()
  const signatures = operators.map((o) => encoder.signature(o))
  return `${banner('schemas.ts', OPERATOR_INPUTS)}import { Float } from '../../tensor/scalar.js'

/** Argument and return names; the first stands for "none". */
export const names: readonly string[] = [${encoder.names.items.map(quoted).join(', ')}]
/** Type texts without alias annotations. */
export const types: readonly string[] = [${encoder.types.items.map(quoted).join(', ')}]
/** Alias annotations; the first stands for "none". */
export const aliases: readonly string[] = [${encoder.aliases.items.map(quoted).join(', ')}]
/** Default values; the first stands for "none". */
export const defaults: readonly unknown[] = [${encoder.defaults.items.join(', ')}]
/** Five numbers per distinct argument or return: name, type, alias, default, flags (1 keyword-only, 2 out, 4 alias annotation after the whole type). */
export const args: readonly number[] = [
${rows(encoder.args.items)}]
/** Per distinct signature: argument count, return count, flags (1 vararg, 2 varret), its arguments, its returns. */
export const signatures: readonly number[] = [
${rows(encoder.signatures)}]
/** Where in \`signatures\` each operator of the table has its own. */
export const signatureOf: readonly number[] = [
${rows(signatures.map(String))}]
`
}

class Encoder {
  readonly names = new Pool()
  readonly types = new Pool()
  readonly aliases = new Pool()
  readonly defaults = new Pool()
  readonly args = new Pool()
  readonly signatures: string[] = []
  private readonly known = new Map<string, number>()
  private length = 0

  constructor() {
    this.names.add('')
    this.aliases.add('')
    this.defaults.add('undefined')
  }

  signature(operator: Operator): number {
    const { schema } = operator
    const args = schema.arguments.map((a) => this.argument(a, operator))
    const returns = schema.returns.map((r) => this.row(r.name ?? '', r.type, 0, 0))
    const numbers = [args.length, returns.length, flagsOf(schema), ...args, ...returns]
    const key = numbers.join(', ')
    const known = this.known.get(key)
    if (known !== undefined) return known
    const offset = this.length
    this.known.set(key, offset)
    this.signatures.push(key)
    this.length += numbers.length
    return offset
  }

  private argument(argument: Argument, operator: Operator): number {
    const flags = (argument.kwargOnly ? KWARG_ONLY : 0) | (isOutArgument(argument) ? OUT : 0)
    if (argument.defaultValue === null) return this.row(argument.name, argument.type, 0, flags)
    const literal = defaultLiteral(argument.defaultValue, argument.type)
    if (literal === null) failAt(operator.native.source, operator.qualifiedName, `the default of '${argument.name}' does not fit its type`)
    return this.row(argument.name, argument.type, this.defaults.add(literal), flags)
  }

  private row(name: string, type: SchemaType, defaultIndex: number, flags: number): number {
    const alias = aliasOf(type)
    const row = [
      this.names.add(name),
      this.types.add(printType(type, false)),
      this.aliases.add(alias === null ? '' : printAlias(alias).slice(1, -1)),
      defaultIndex,
      // Tensor(a!)[] has it on the element, t[](a!) on the list
      type.kind !== 'base' && type.alias !== null ? flags | ALIAS_LAST : flags,
    ]
    return this.args.add(row.join(', '))
  }
}

function flagsOf(schema: FunctionSchema): number {
  return (schema.isVararg ? VARARG : 0) | (schema.isVarret ? VARRET : 0)
}

function quoted(text: string): string {
  return `'${text}'`
}

/** Lines of comma-separated numbers. */
function rows(items: readonly string[]): string {
  const lines: string[] = []
  for (let i = 0; i < items.length; i += 16) lines.push(`  ${items.slice(i, i + 16).join(', ')},\n`)
  return lines.join('')
}
