import { PtliteError } from '../../error.js'
import * as features from '../../features.js'
import { add, addedCount, addedIndex, addedWhere } from './added.js'
import { guarded } from './guard.js'
import { limited } from './limited-chunk.js'
import { functionOf, nameOf, numberOf, numbersFrom, operatorTotal, schemaOf, wrapperOf } from './lookup.js'
import { setOperatorNames } from './names.js'
import type { BoxedFunction, OperatorSchema, UnboxedFunction, Wrapper } from './schema.js'
import { schemaText } from './schema-text.js'
import { limitedExist } from '../../tensor/limited.js'
import type { Stack } from '../../tensor/value.js'
import { noteOperator } from './unbox-error.js'

/** One overload of an operator, as modules hold it after load. */
export class OperatorEntry {
  constructor(
    /** Position in the table; custom operators come after the built-in ones. */
    readonly index: number,
    /** `aten::add.Tensor` */
    readonly qualifiedName: string,
    private readonly wrapper: Wrapper,
    private readonly unboxed: UnboxedFunction,
    private decoded?: OperatorSchema,
    /** file:line of a custom operator's declaration. */
    readonly source: string | null = null,
  ) {}

  /** Runs the operator: takes its arguments off the stack, leaves its results. */
  call(stack: Stack): void {
    if (features.limited && limitedExist() && this.source === null && limited().callLimited(this, stack, findOperator)) return
    noteOperator(this.index)
    this.wrapper(stack, this.unboxed as never)
  }

  get schema(): OperatorSchema {
    return (this.decoded ??= schemaOf(this.index))
  }
}

// made at first use; custom operators are put here when they are registered
const entries: (OperatorEntry | undefined)[] = []
/** Operators in the table, custom ones included. */
export function operatorCount(): number {
  return operatorTotal + addedCount()
}

export function entryAt(index: number): OperatorEntry {
  return (entries[index] ??= builtinEntry(index))
}

function builtinEntry(index: number): OperatorEntry {
  return new OperatorEntry(index, nameOf(index), wrapperOf(index), functionOf(index))
}

let observer: ((entry: OperatorEntry) => void) | null = null

/** Is told of operators that are called by name from outside of any module. */
export function observeOperators(other: ((entry: OperatorEntry) => void) | null): void {
  observer = other
}

/** The operator that a caller named, for one call. */
export function calledOperator(qualifiedName: string): OperatorEntry | undefined {
  const entry = findOperator(qualifiedName)
  if (observer !== null && entry !== undefined) observer(entry)
  return entry
}

/** The operator with this name, e.g. `aten::add.Tensor`. */
export function findOperator(qualifiedName: string): OperatorEntry | undefined {
  const index = indexOf(qualifiedName)
  return index < 0 ? undefined : entryAt(index)
}

/** The operators of a name without overload: `aten::add` is that of `aten::add.Tensor` and others. */
export function overloadsOf(name: string): OperatorEntry[] {
  const isOverload = (other: string): boolean => other.startsWith(name) && (other.length === name.length || other[name.length] === '.')
  const own = numbersFrom(name).filter((number) => isOverload(nameOf(number)))
  return [...own, ...addedWhere(isOverload)].map(entryAt)
}

function indexOf(qualifiedName: string): number {
  return addedIndex(qualifiedName) ?? numberOf(qualifiedName)
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
 * Adds operators and returns their numbers. One that the library has is replaced for modules linked from now on; it
 * must have the same schema. Two custom ones of a name are an error that names both sources; then none is added.
 */
export function registerOperators(operators: readonly CustomOperator[]): number[] {
  const sources = new Map<string, string>()
  for (const operator of operators) {
    checkNew(operator, sources.get(operator.qualifiedName) ?? entries[indexOf(operator.qualifiedName)]?.source ?? null)
    sources.set(operator.qualifiedName, operator.source)
  }
  return operators.map(({ qualifiedName, call, schema, source }) => {
    const known = numberOf(qualifiedName)
    const index = known < 0 ? operatorCount() : known
    if (known < 0) add(qualifiedName, index)
    entries[index] = new OperatorEntry(index, qualifiedName, guarded(qualifiedName, schema), call, schema, source)
    return index
  })
}

function checkNew({ qualifiedName, schema, source }: CustomOperator, other: string | null): void {
  if (other !== null) {
    throw new PtliteError('INVALID_ARGUMENT', `${qualifiedName} is registered twice: at ${other} and at ${source}`)
  }
  const index = numberOf(qualifiedName)
  const [found, expected] = [schema, index < 0 ? schema : entryAt(index).schema].map((s) => schemaText(qualifiedName, s))
  if (found !== expected) throw new PtliteError('INVALID_ARGUMENT', `${source}: expected the schema ${expected!}, found ${found!}`)
}

/** Runs the library's own function of an operator, replaced or not. */
export function callBuiltin(qualifiedName: string, stack: Stack): void {
  builtinEntry(numberOf(qualifiedName)).call(stack)
}

setOperatorNames({
  nameAt: (index) => (index >= 0 && index < operatorCount() ? entryAt(index).qualifiedName : `operator ${index}`),
  schemaAt: (index) => entryAt(index).schema,
})
