import type { Value } from '../../tensor/value.js'
import { unpackNumbers } from './packed.js'
import type { OperatorSchema, SchemaArgument, UnboxedFunction, Wrapper } from './schema.js'

const KWARG_ONLY = 1
const OUT = 2
const ALIAS_LAST = 4
const VARIABLE = '#'

/** Generated files of a table (codegen/emit/table.ts, codegen/emit/schemas.ts), which say how they are written. */
export interface TableData {
  readonly table: { readonly names: string; readonly functionOf: string; readonly wrapperOf: string }
  readonly functions: { readonly functions: readonly UnboxedFunction[]; readonly wrappers: readonly Wrapper[] }
  readonly schemas: {
    readonly types: readonly string[]
    readonly aliases: readonly string[]
    readonly defaults: readonly unknown[]
    readonly items: string
    readonly signatures: string
  }
}

/** Operators by their positions in generated files, which are split at first use. */
export class OperatorTable {
  private splitNames: readonly string[] | undefined
  private functionOf: readonly number[] | undefined
  private wrapperOf: readonly number[] | undefined
  private signatures: readonly string[] | undefined
  private items: readonly string[] | undefined

  constructor(private readonly data: TableData) {}

  /** In ascending order. */
  get names(): readonly string[] {
    const { names } = this.data.table
    return (this.splitNames ??= names === '' ? [] : names.split(' '))
  }

  /** The position of the operator with this name, -1 for none. */
  positionOf(name: string): number {
    const at = this.firstFrom(name)
    return this.names[at] === name ? at : -1
  }

  /** The position of the first name that is not before this one. */
  firstFrom(name: string): number {
    const { names } = this
    let low = 0
    let high = names.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (names[middle]! < name) low = middle + 1
      else high = middle
    }
    return low
  }

  functionAt(position: number): UnboxedFunction {
    this.functionOf ??= unpackNumbers(this.data.table.functionOf)
    return this.data.functions.functions[this.functionOf[position]!]!
  }

  wrapperAt(position: number): Wrapper {
    this.wrapperOf ??= unpackNumbers(this.data.table.wrapperOf)
    return this.data.functions.wrappers[this.wrapperOf[position]!]!
  }

  schemaAt(position: number): OperatorSchema {
    this.signatures ??= this.data.schemas.signatures.split(' ')
    const [args, returns] = this.signatures[position]!.split('!') as [string, string?]
    return {
      arguments: this.itemsOf(args),
      isVararg: args.endsWith(VARIABLE),
      returns:
        returns === undefined
          ? [{ name: null, type: 'Tensor', alias: null, annotatedType: 'Tensor' }]
          : this.itemsOf(returns).map(({ name, type, alias, annotatedType }) => ({
              name: name === '' ? null : name,
              type,
              alias,
              annotatedType,
            })),
      isVarret: returns?.endsWith(VARIABLE) ?? false,
    }
  }

  private itemsOf(packed: string): SchemaArgument[] {
    return unpackNumbers(packed.replace(VARIABLE, '')).map((item) => this.itemAt(item))
  }

  private itemAt(index: number): SchemaArgument {
    const { types, aliases, defaults, items } = this.data.schemas
    this.items ??= items.split(' ')
    const [name, packed] = this.items[index]!.split('!') as [string, string]
    const [typeIndex, aliasIndex, defaultIndex, flags] = unpackNumbers(packed) as [number, number, number, number]
    const type = types[typeIndex]!
    const alias = aliases[aliasIndex]!
    return {
      name,
      type,
      alias: alias === '' ? null : alias,
      // for texts of schemas, which are listed, or compared with those of custom operators
      annotatedType: annotated(type, alias, (flags & ALIAS_LAST) !== 0),
      kwargOnly: (flags & KWARG_ONLY) !== 0,
      isOut: (flags & OUT) !== 0,
      defaultValue: defaults[defaultIndex] as Value | undefined,
    }
  }
}

function annotated(type: string, alias: string, last: boolean): string {
  if (alias === '') return type
  return last ? `${type}(${alias})` : type.replace(/^[\w.]+/, (name) => `${name}(${alias})`)
}
