import { missingOperators } from '../../runtime/operators/table/missing-operator.js'
import { findOperator, type OperatorEntry } from '../../runtime/operators/table/registry.js'
import type { SchemaArgument } from '../../runtime/operators/table/schema.js'
import { reading } from '../../runtime/tensor/check-arguments.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Input } from './convert.js'
import { FUNCTIONS } from './generated/tensor-methods.js'
import { type MethodOperator, rowsOf } from './method-table.js'
import { callOperator } from './operators.js'

/*
 * Methods of tensors and functions that make them, of codegen/tensor_methods.yaml: each is a name for operators. Of several the first one is called whose
 * schema takes the arguments, as PyTorch's functions choose among overloads.
 */

/** Calls a method of a tensor by its row of `METHODS`. Arguments are checked by the operator. */
export function tensorOperation(row: readonly MethodOperator[], self: Tensor, args: readonly unknown[]): unknown {
  return callRow(row, self, args)
}

let functions: ReadonlyMap<string, readonly MethodOperator[]> | null = null

/** Calls a function of `FUNCTIONS`. */
export function callFunction(name: string, args: readonly unknown[]): unknown {
  functions ??= rowsOf(FUNCTIONS)
  return callRow(functions.get(name)!, null, args)
}

function callRow(row: readonly MethodOperator[], self: Tensor | null, given: readonly unknown[]): unknown {
  let count = given.length
  while (count > 0 && given[count - 1] === undefined) count--
  const { entry, name, fallbacks } = reading(() => chosen(row, self, given, count))
  const { arguments: declared } = entry.schema
  const place = self === null ? -1 : selfOf(entry)
  const args: Input[] = []
  for (let i = 0, next = 0; next < Math.max(count, fallbacks.length) || i <= place; i++) {
    if (i === place) {
      args.push(self)
      continue
    }
    const at = next++
    const value = at < count ? given[at] : undefined
    args.push(value === undefined ? (fallbacks[at] ?? omitted(declared[i])) : (value as Input))
  }
  return callOperator(name, args)
}

/** The first operator that takes the arguments; the last one says what is wrong with those that none takes. Throws MISSING_OPERATOR where one that the build lacks might take them. */
function chosen(
  candidates: readonly MethodOperator[],
  self: Tensor | null,
  given: readonly unknown[],
  count: number,
): MethodOperator & { readonly entry: OperatorEntry } {
  const lacking: string[] = []
  let last: (MethodOperator & { readonly entry: OperatorEntry }) | null = null
  for (const { name, fallbacks } of candidates) {
    const entry = findOperator(name)
    if (entry === undefined) {
      lacking.push(name)
      continue
    }
    last = { name, fallbacks, entry }
    if (candidates.length === 1 || takes(entry, self, given, count)) return last
  }
  if (last === null || lacking.length > 0) throw missingOperators(lacking)
  return last
}

/** What stands for an argument that was left out before others. */
function omitted(declared: SchemaArgument | undefined): Input {
  const value = declared?.defaultValue ?? null
  return Array.isArray(value) ? [...(value as Input[])] : (value as Input)
}

/** Where among its arguments an operator has the tensor whose method it is. */
function selfOf({ schema }: OperatorEntry): number {
  return Math.max(
    0,
    schema.arguments.findIndex(({ name }) => name === 'self'),
  )
}

/** Whether an operator can be called with these arguments, beside the tensor itself. */
function takes(entry: OperatorEntry, self: Tensor | null, given: readonly unknown[], count: number): boolean {
  const place = self === null ? -1 : selfOf(entry)
  const declared = entry.schema.arguments
  let next = 0
  for (let i = 0; i < declared.length; i++) {
    if (i === place) continue
    const argument = declared[i]!
    const value = next < count ? given[next] : undefined
    next++
    if (value === undefined ? argument.defaultValue === undefined && !argument.type.endsWith('?') : !isOf(value, argument.type))
      return false
  }
  return next >= count
}

/** Whether a value is of the kind that a schema type says; the operator checks the rest. */
function isOf(value: unknown, type: string): boolean {
  if (type.endsWith('?')) return value === null || isOf(value, type.slice(0, -1))
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  const isScalar = isNumber || typeof value === 'boolean' || value instanceof Float || value instanceof Complex
  if (type.endsWith(']')) return Array.isArray(value) || (type.endsWith('[1]') && isNumber)
  if (type === 'Tensor') return typeof value === 'object' && value !== null && !isScalar && !Array.isArray(value)
  if (type === 'Scalar') return isScalar
  if (type === 'int' || type === 'SymInt' || type === 'float') return isNumber
  if (type === 'bool') return typeof value === 'boolean'
  return type !== 'ScalarType' || typeof value === 'string'
}
