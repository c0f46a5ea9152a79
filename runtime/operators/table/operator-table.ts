import { unpackNumbers } from './packed.js'
import type { OperatorSchema, UnboxedFunction, Wrapper } from './schema.js'

/** Generated files of a table, which say how they are written (codegen/emit/table.ts), and what decodes its schemas. */
export interface TableData {
  readonly table: { readonly names: string; readonly functionOf: string; readonly wrapperOf: string }
  readonly functions: { readonly functions: readonly UnboxedFunction[]; readonly wrappers: readonly Wrapper[] }
  readonly schemaAt: (position: number) => OperatorSchema
}

/** Operators by their positions in generated files, which are split at first use. */
export class OperatorTable {
  private splitNames: readonly string[] | undefined
  private functionOf: readonly number[] | undefined
  private wrapperOf: readonly number[] | undefined

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
    return this.data.schemaAt(position)
  }
}
