import { sizeError } from '../../runtime/error.js'
import { fillDefaults } from '../../runtime/operators/table/fill-defaults.js'
import { missingOperators } from '../../runtime/operators/table/missing-operator.js'
import { calledOperator, entryAt, operatorCount } from '../../runtime/operators/table/registry.js'
import type { SchemaArgument } from '../../runtime/operators/table/schema.js'
import { schemaText } from '../../runtime/operators/table/schema-text.js'
import { visitTensors } from '../../program/reach.js'
import { dtypeFromName } from '../../runtime/tensor/dtype.js'
import { enterElementBudget, enterOperator } from '../../runtime/tensor/element-budget.js'
import { Storage } from '../../runtime/tensor/storage.js'
import { enterScope, type Scope } from '../../runtime/tensor/scope.js'
import { newStack, type Value } from '../../runtime/tensor/value.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { checkList, checkText, reading } from '../../runtime/tensor/check-arguments.js'
import { type Input, type Output, toOutput, toValue } from './convert.js'
import { notWritten } from './foreign.js'

/**
 * Calls one operator by its qualified name (`aten::add.Tensor`). Arguments are positional, in the schema's
 * order with keyword-only and `out` arguments included; trailing ones that have defaults may be left out.
 * Several results come as an array, none as null. `Result` is what the caller knows of it. Throws PtliteError.
 */
export function callOperator(name: string, args: readonly Input[]): Output
export function callOperator<Result extends Output>(name: string, args: readonly Input[]): Result
export function callOperator(name: string, args: readonly Input[]): Output {
  checkText(name, 'the name of an operator')
  const entry = calledOperator(name)
  if (entry === undefined) throw missingOperators([name])
  checkList(args, 'its arguments')
  const stack = newStack()
  const declared = entry.schema.arguments
  reading(() =>
    args.forEach((arg, i) => {
      const value = toArgument(arg, declared[i])
      // a copy of an object that is not of this copy of the library
      const isCopy = typeof arg === 'object' && value !== arg && value !== null
      if (isCopy && declared[i]?.alias?.includes('!') === true) throw notWritten(name, declared[i].name, arg)
      stack.values[stack.top++] = value
    }),
  )
  const given = stack.values.slice()
  const scope: Scope = { created: [] }
  const before = enterScope(scope)
  const elementBudget = enterOperator()
  let results: Value[] = []
  try {
    if (entry.schema.isVararg) stack.values[stack.top++] = args.length
    else fillDefaults(stack, entry, args.length)
    entry.call(stack)
    results = stack.values.slice(0, stack.top)
  } catch (error) {
    throw sizeError(error)
  } finally {
    enterScope(before)
    enterElementBudget(elementBudget)
    settle(scope.created, results, given, before)
  }
  const outputs = results.map(toOutput)
  return outputs.length === 1 ? outputs[0]! : outputs.length === 0 ? null : outputs
}

/**
 * The value of an argument as PyTorch's boxed calls from Python convert it: a dtype name where the schema has an int,
 * and a bool as an int where it has a Scalar.
 */
function toArgument(arg: Input, declared: SchemaArgument | undefined): Value {
  const type = declared?.type
  if (typeof arg === 'string' && (type === 'int' || type === 'int?') && declared!.name === 'dtype') return dtypeFromName(arg)
  if (typeof arg === 'boolean' && (type === 'Scalar' || type === 'Scalar?')) return arg ? 1 : 0
  return toValue(arg)
}

/**
 * Releases the temporaries of a call; what the caller can still reach is left to it, or to the scope around the call:
 * that of an operator whose native function calls this one.
 */
function settle(created: readonly Tensor[], results: readonly Value[], args: readonly Value[], around: Scope | null): void {
  const kept = new Set<Tensor>()
  const seen = new Set<object>()
  for (const v of results) visitTensors(v, (t) => kept.add(t), seen)
  for (const v of args) if (typeof v === 'object') visitTensors(v, (t) => kept.add(t), seen)
  for (const t of created) {
    if (around !== null && kept.has(t) && !t.pinned) around.created.push(t)
    else if (kept.has(t) || t.pinned) {
      t.pinned = true
      t.storage.watch()
      if (Storage.isShared(t.storage)) Tensor.expose(t)
      else Tensor.hand(t, false)
    } else t.release()
  }
}

/** An operator of the table. */
export interface OperatorInfo {
  /** With namespace: `aten::add`. */
  readonly name: string
  /** '' for the default overload. */
  readonly overload: string
  /** As PyTorch writes it. */
  readonly schema: string
}

/** The flat operator table, sorted by name. */
export function operators(): OperatorInfo[] {
  const entries = Array.from({ length: operatorCount() }, (_, i) => entryAt(i))
  entries.sort((a, b) => (a.qualifiedName < b.qualifiedName ? -1 : 1))
  return entries.map(({ qualifiedName, schema }) => {
    const [name, overload = ''] = qualifiedName.split('.') as [string, string?]
    return { name, overload, schema: schemaText(qualifiedName, schema) }
  })
}
