import { PtliteError } from '../error.js'
import { decodeSchema } from './decode-schema.js'
import * as data from './generated/schemas.js'
import { functions, names } from './generated/table.js'
import { setOperatorNames } from './names.js'
import type { BoxedFunction, OperatorSchema } from './schema.js'

/** One overload of an operator, as modules hold it after load. */
export class OperatorEntry {
  private decoded: OperatorSchema | undefined

  constructor(
    /** Position in the table; custom operators come after the built-in ones. */
    readonly index: number,
    /** `aten::add.Tensor` */
    readonly qualifiedName: string,
    readonly call: BoxedFunction,
    private readonly makeSchema: () => OperatorSchema,
    /** file:line of a custom operator's declaration. */
    readonly source: string | null = null,
  ) {}

  /** `aten::add` */
  get name(): string {
    return this.qualifiedName.split('.', 1)[0]!
  }

  /** `Tensor`; empty for the default overload. */
  get overload(): string {
    const dot = this.qualifiedName.indexOf('.')
    return dot < 0 ? '' : this.qualifiedName.slice(dot + 1)
  }

  get schema(): OperatorSchema {
    return (this.decoded ??= this.makeSchema())
  }

  get argumentCount(): number {
    return this.schema.arguments.length
  }
}

// made at first use
const entries: (OperatorEntry | undefined)[] = []
const customIndex = new Map<string, number>()

/** Operators in the table, custom ones included. */
export function operatorCount(): number {
  return names.length + customIndex.size
}

export function entryAt(index: number): OperatorEntry {
  return (entries[index] ??= new OperatorEntry(index, names[index]!, functions[index]!, () => decodeSchema(data, data.signatureOf[index]!)))
}

/** The operator with this name, e.g. `aten::add.Tensor`; a custom one hides one of the table. */
export function findOperator(qualifiedName: string): OperatorEntry | undefined {
  const custom = customIndex.size === 0 ? undefined : customIndex.get(qualifiedName)
  const index = custom ?? search(qualifiedName)
  return index < 0 ? undefined : entryAt(index)
}

function search(name: string): number {
  let low = 0
  let high = names.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = names[middle]!
    if (found === name) return middle
    if (found < name) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** A custom operator, or another function for an operator of the table. */
export interface CustomOperator {
  readonly qualifiedName: string
  readonly call: BoxedFunction
  readonly schema: OperatorSchema
  /** file:line of its declaration. */
  readonly source: string
}

/**
 * Adds an operator and returns its number. An operator of the built-in table is replaced from now on; two custom
 * ones of a name are an error that names both sources.
 */
export function registerOperator(operator: CustomOperator): number {
  const before = customIndex.get(operator.qualifiedName)
  if (before !== undefined) {
    const other = entries[before]!.source ?? 'an unknown place'
    throw new PtliteError('INVALID_ARGUMENT', `${operator.qualifiedName} is registered twice: at ${other} and at ${operator.source}`)
  }
  const index = operatorCount()
  entries[index] = new OperatorEntry(index, operator.qualifiedName, operator.call, () => operator.schema, operator.source)
  customIndex.set(operator.qualifiedName, index)
  return index
}

setOperatorNames({
  nameAt: (index) => (index < operatorCount() ? entryAt(index).qualifiedName : `operator ${index}`),
  schemaAt: (index) => entryAt(index).schema,
})
