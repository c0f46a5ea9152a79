import { mistakeIn } from '../codegen/schema/check.js'
import { aliasOf, type Argument, type FunctionSchema, isOutArgument, qualifiedName, type SchemaType } from '../codegen/schema/model.js'
import { parseSchema } from '../codegen/schema/parser.js'
import { printAlias, printType } from '../codegen/schema/printer.js'
import { SchemaError } from '../codegen/schema/tokenizer.js'
import { defaultOf } from '../codegen/types/default-value.js'
import type { TypeNode } from '../program/types.js'
import { check, PtliteError } from '../runtime/error.js'
import { findOperator, registerOperators } from '../runtime/operators/table/registry.js'
import type { OperatorSchema, SchemaArgument, SchemaReturn } from '../runtime/operators/table/schema.js'
import { take, takeVarargs } from '../runtime/operators/table/unbox.js'
import { checkText } from '../runtime/tensor/check-arguments.js'
import { dtypeFromCode, dtypeFromName, dtypeName } from '../runtime/tensor/dtype.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import { type Stack, Tuple, type Value } from '../runtime/tensor/value.js'
import { toTyped } from './values/coerce.js'
import { type Input, type Output, toOutput } from './values/convert.js'
import type { OperatorFunction } from './operator-function.js'

/** Characters of a schema that errors repeat. */
const SHOWN = 500

/**
 * Adds an operator that this build lacks, for models that are loaded from now on: `schema` as PyTorch writes it, `mylib::scale(Tensor x, float by=2.0) -> Tensor`.
 * `call` gets the arguments of a call in the order of the schema, with defaults where the call leaves some out: tensors, numbers, strings, arrays for lists and tuples,
 * Maps for dicts, null for None, names of dtypes. It gives the result, an array of several, or nothing, and changes none of its arguments but those that the schema says it does. Tensors that
 * it gets belong to the caller, what it gives goes there. It must not wait for anything. Throws INVALID_ARGUMENT for what is no schema, and for an operator that is there.
 */
export function registerOperator<Schema extends string>(schema: Schema, call: OperatorFunction<Schema>): void {
  checkText(schema, 'the schema of an operator')
  check(typeof call === 'function', () => `registerOperator(): expected a function, found ${kindOf(call)}`)
  const parsed = parsedSchema(schema)
  const name = qualifiedName(parsed)
  const known = findOperator(name)
  check(known === undefined || known.source !== null, () => `registerOperator(): ${name} is an operator of the library already`)
  check(known === undefined, () => `registerOperator(): ${name} is registered already, by ${known!.source!}`)
  const operator = new FunctionOperator(name, parsed, call as (...args: Output[]) => Input)
  const [number] = registerOperators([
    { qualifiedName: name, call: (stack) => operator.run(stack), schema: operator.schema, source: 'registerOperator()' },
  ])
  operator.number = number!
}

function parsedSchema(text: string): FunctionSchema {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  let schema: FunctionSchema
  try {
    schema = parseSchema(text)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    const what = error.message.replace(` of '${text}'`, '').slice(0, SHOWN)
    throw new PtliteError('INVALID_ARGUMENT', `registerOperator(): ${what} of '${shown}'`, { cause: error })
  }
  const mistake =
    schema.namespace === null
      ? `expected a name with its namespace, as in 'mylib::${schema.name.slice(0, SHOWN)}'`
      : schema.isVarret
        ? 'expected the types of its results, found ...'
        : mistakeIn(schema)
  check(mistake === null, () => `registerOperator(): '${shown}': ${mistake!.slice(0, SHOWN)}`)
  return schema
}

/** A function with what its calls are converted by. */
class FunctionOperator {
  readonly schema: OperatorSchema
  /** Of the operator in the table. */
  number = -1
  private readonly args: readonly Converted[]
  private readonly results: readonly Converted[]

  constructor(
    private readonly name: string,
    { arguments: args, returns, isVararg }: FunctionSchema,
    private readonly call: (...args: Output[]) => Input,
  ) {
    const results = returns.map(({ name: own, type }): SchemaReturn => ({ name: own, ...typeFields(type) }))
    this.schema = { arguments: args.map(argumentOf), isVararg, returns: results, isVarret: false }
    this.args = args.map(({ name: own, type }) => convertedBy(type, `${name}: '${own}'`))
    this.results = returns.map(({ type }, i) => convertedBy(type, `${name}: result ${i + 1} of its function`))
  }

  /** Takes the arguments off the stack, and leaves the results. */
  run(stack: Stack): void {
    const fixed = this.args.length
    let count = fixed
    if (this.schema.isVararg) count = takeVarargs(stack, fixed, this.number)
    else take(stack, fixed, this.number)
    const values = stack.values.slice(stack.top, stack.top + count)
    const result = this.call(...values.map((value, i) => this.args[i]?.given(value) ?? toOutput(value)))
    if (isPromise(result))
      throw new PtliteError('INVALID_ARGUMENT', `${this.name}: its function must not wait for anything, found a promise of its result`)
    const items = this.results.length === 1 ? [result] : this.results.length === 0 ? [] : this.itemsOf(result)
    items.forEach((item, i) => (stack.values[stack.top++] = this.results[i]!.made(item)))
  }

  private itemsOf(result: Input): readonly Input[] {
    const items = result instanceof Tuple ? result.items : result
    if (Array.isArray(items) && items.length === this.results.length) return items as readonly Input[]
    const found = Array.isArray(items) ? `${items.length}` : kindOf(result)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `${this.name}: expected an array of ${this.results.length} results of its function, found ${found}`,
    )
  }
}

function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { readonly then?: unknown }).then === 'function'
}

/** How values of a type become those that a function gets, and the other way round. */
interface Converted {
  given(value: Value): Output
  made(result: Input): Value
}

function convertedBy(type: SchemaType, where: string): Converted {
  const node = nodeOf(type)
  const inner = type.kind === 'optional' ? type.inner : type
  const isDType = inner.kind === 'base' && inner.name === 'ScalarType'
  const size = inner.kind === 'list' ? inner.size : null
  return {
    given(value) {
      const isOne = size !== null && value !== null && !Array.isArray(value)
      const found = toTyped(isOne ? new Array<Value>(size).fill(value) : value, node, where)
      return isDType && typeof found === 'number' ? dtypeName(dtypeFromCode(found)) : toOutput(found)
    },
    made: (result) => toTyped(isDType && typeof result === 'string' ? dtypeFromName(result) : result, node, where),
  }
}

const INTS = new Set(['ScalarType', 'Layout', 'MemoryFormat', 'QScheme', 'SymInt'])
const NAMES = new Set(['Tensor', 'int', 'float', 'bool', 'str', 'complex', 'Device'])

/** The type of a schema as one of a program; what a program has no type for is anything. */
function nodeOf(type: SchemaType): TypeNode {
  switch (type.kind) {
    case 'base': {
      const { name } = type
      if (INTS.has(name)) return { name: 'int', args: [] }
      if (name === 'SymBool') return { name: 'bool', args: [] }
      if (name === 'Scalar' || name === 'number') return { name: 'number', args: [] }
      return { name: NAMES.has(name) ? name : 'Any', args: [] }
    }
    case 'optional':
      return { name: 'Optional', args: [nodeOf(type.inner)] }
    case 'list':
      return { name: 'List', args: [nodeOf(type.inner)] }
    case 'tuple':
      return { name: 'Tuple', args: type.items.map(nodeOf) }
    case 'generic':
      return type.name === 'Dict' ? { name: 'Dict', args: type.parameters.map(nodeOf) } : { name: 'Any', args: [] }
  }
}

function argumentOf(argument: Argument): SchemaArgument {
  const { name, type, kwargOnly, defaultValue } = argument
  const value = defaultValue === null ? undefined : defaultOf(defaultValue, type)
  return { name, ...typeFields(type), kwargOnly, isOut: isOutArgument(argument), defaultValue: value }
}

function typeFields(type: SchemaType): Pick<SchemaArgument, 'type' | 'alias' | 'annotatedType'> {
  const alias = aliasOf(type)
  return { type: printType(type, false), alias: alias === null ? null : printAlias(alias).slice(1, -1), annotatedType: printType(type) }
}
