import { findOperator, type OperatorEntry } from '../../runtime/operators/table/registry.js'
import { isWritten, type SchemaArgument } from '../../runtime/operators/table/schema.js'
import type { Argument, Graph, GraphNode, NodeInput } from './graph.js'
import type { CodeBuilder } from '../exported/code-builder.js'
import { damaged, guarded } from '../../program/file-error.js'
import { atenOfPrim } from './prims.js'
import { pushAny, pushTyped, typeOf } from './push.js'
import type { Scope } from './scope.js'

const OPERATOR = /^torch\.ops\.(\w+)\.(\w+)\.(\w+)$/

/** `aten::add.Tensor` for `torch.ops.aten.add.Tensor` and `torch.ops.prims.add.default`; undefined for what is no operator with a schema. */
export function operatorName(target: string): string | undefined {
  const match = OPERATOR.exec(target)
  if (match === null || match[1] === 'higher_order') return undefined
  const aten = match[1] === 'prims' ? atenOfPrim(match[2]!) : undefined
  if (aten !== undefined) return aten
  return qualified(`${match[1]!}::${match[2]!}`, match[3]!)
}

function qualified(name: string, overload: string): string {
  return overload === 'default' || overload === '' ? name : `${name}.${overload}`
}

/** Whether an operator of a graph, or of one in it, writes to an argument. */
export function writesInPlace(graph: Graph): boolean {
  return graph.nodes.some(({ target, inputs }) => {
    const name = operatorName(target)
    const args = name === undefined ? [] : (findOperator(name)?.schema.arguments ?? [])
    return args.some(isWritten) || inputs.some(({ argument }) => argument.kind === 'graph' && writesInPlace(argument.graph))
  })
}

/** Where dtypes of tensors are known: a scalar type number by name. */
export type DtypeOf = (name: string) => number | undefined

/** Writes a call of an operator: its arguments in the order of its schema, and what becomes of its results. */
export function emitOperator(name: string, node: GraphNode, scope: Scope, builder: CodeBuilder, dtypeOf: DtypeOf): void {
  const entry = operatorFor(name, node.inputs, scope)
  if (entry === undefined) return emitMissing(name, node, scope, builder)
  const { schema } = entry
  const given = matchArguments(schema.arguments, node.inputs)
  // trailing defaults are filled in at the call; before `out` arguments that cannot be
  const last = schema.arguments.some(({ isOut }) => isOut) ? given.length - 1 : given.findLastIndex((item) => item !== undefined)
  for (let i = 0; i <= last; i++) {
    const { name: argName, type, defaultValue } = schema.arguments[i]!
    const input = given[i]
    if (input === undefined) builder.constant(defaultValue!)
    // as the file calls it, which may be for another operator of the same meaning
    else
      guarded(`argument '${input.name.slice(0, 60) || argName}'`, () => pushArgument(input.argument, type, node, scope, builder, dtypeOf))
  }
  builder.operator(entry.qualifiedName, last + 1)
  const { returns } = schema
  if (node.outputs.length !== returns.length && node.outputs.length !== 0)
    throw damaged(`${entry.qualifiedName} has ${returns.length} results, the node ${node.outputs.length}`)
  storeResults(node.outputs, scope, builder, returns.length)
}

/** The inputs in the order of a schema; undefined for those that are left out. */
function matchArguments(args: readonly SchemaArgument[], inputs: readonly NodeInput[]): (NodeInput | undefined)[] {
  const given: (NodeInput | undefined)[] = args.map(() => undefined)
  inputs.forEach((input, i) => {
    const { name, argument } = input
    const named = args.findIndex((arg) => arg.name === name)
    const index = named >= 0 ? named : i
    const target = args[index]
    if (target === undefined) {
      if (argument.kind === 'none') return
      throw damaged(`an argument '${name}' that the operator has not got`)
    }
    if (given[index] !== undefined) throw damaged(`the argument '${name}' is there twice`)
    given[index] = input
  })
  args.forEach(({ name, defaultValue }, i) => {
    if (given[i] === undefined && defaultValue === undefined) throw damaged(`the argument '${name}' is missing`)
  })
  return given
}

/** The build lacks it: linking says so, with all others that it lacks. */
function emitMissing(name: string, node: GraphNode, scope: Scope, builder: CodeBuilder): void {
  for (const { argument } of node.inputs) pushAny(argument, scope, builder)
  builder.operator(name, node.inputs.length)
  storeResults(node.outputs, scope, builder, node.outputs.length)
}

/** Overloads that take a number where another one takes a tensor. */
const OF_NUMBERS = ['Scalar', 'Tensor_Scalar', 'Scalar_Tensor', 'ScalarOther', 'ScalarSelf', 'Scalar_mode', 'int_Scalar', 'value']

/**
 * The operator that serves a call. PyTorch takes numbers for tensors and treats them as such: `add.Tensor(x, 1)` is `add.Scalar(x, 1)`, so
 * that is called where there is one. undefined where the build lacks the operator.
 */
function operatorFor(name: string, inputs: readonly NodeInput[], scope: Scope): OperatorEntry | undefined {
  const entry = findOperator(name)
  const numbers = inputs.filter(({ argument }) => isNumber(argument, scope))
  const args = entry?.schema.arguments
  if (numbers.length === 0 || (args !== undefined && !numbers.some((input) => args[indexIn(args, input, inputs)]?.type === 'Tensor')))
    return entry
  const dot = name.indexOf('.')
  const base = dot < 0 ? name : name.slice(0, dot)
  for (const overload of OF_NUMBERS) {
    const other = findOperator(`${base}.${overload}`)
    if (other !== undefined && other !== entry && takes(other.schema.arguments, inputs, scope)) return other
  }
  return entry
}

/** Whether numbers are numbers for these arguments, and tensors tensors. */
function takes(args: readonly SchemaArgument[], inputs: readonly NodeInput[], scope: Scope): boolean {
  return inputs.every((input) => {
    const type = args[indexIn(args, input, inputs)]?.type
    if (input.argument.kind === 'tensor') return type === 'Tensor' || type === 'Tensor?'
    return type !== undefined && (!isNumber(input.argument, scope) || !type.startsWith('Tensor'))
  })
}

function indexIn(args: readonly SchemaArgument[], input: NodeInput, inputs: readonly NodeInput[]): number {
  const named = args.findIndex(({ name }) => name === input.name)
  return named >= 0 ? named : inputs.indexOf(input)
}

function isNumber(argument: Argument, scope: Scope): boolean {
  const type = typeOf(argument, scope)
  return type in RANKS
}

function pushArgument(argument: Argument, type: string, node: GraphNode, scope: Scope, builder: CodeBuilder, dtypeOf: DtypeOf): void {
  if ((type !== 'Tensor' && type !== 'Tensor?') || !isNumber(argument, scope)) return pushTyped(argument, type, scope, builder)
  // a tensor without dimensions: of the dtype that the other tensors have, where the number fits into that
  pushTyped(argument, 'Scalar', scope, builder)
  const dtypes = node.inputs.flatMap(({ argument: other }) => (other.kind === 'tensor' ? [dtypeOf(other.name)] : []))
  const kind = typeOf(argument, scope) as keyof typeof RANKS
  const dtype = dtypes.find((other) => other !== undefined && rankOf(other) >= RANKS[kind])
  // float64 with a complex number is complex128
  const isWide = kind === 'complex' && dtypes.includes(7)
  builder.constant(dtype ?? (isWide ? 10 : { bool: 11, int: 4, float: 6, complex: 9 }[kind]))
  builder.operator('aten::scalar_tensor', 2)
}

/** Numbers by type, as their dtypes are ranked. */
export const RANKS = { bool: 0, int: 1, float: 2, complex: 3 }

/** bool, integers, floats, complex numbers: what a number does not change the dtype of. */
export function rankOf(dtype: number): number {
  if (dtype === 11) return 0
  return dtype <= 4 ? 1 : dtype >= 8 && dtype <= 10 ? 3 : 2
}

/** Stores the `count` results on top of the stack under the names of a node's outputs. */
export function storeResults(outputs: readonly Argument[], scope: Scope, builder: CodeBuilder, count: number): void {
  for (let i = count - 1; i >= 0; i--) {
    const output = outputs[i]
    if (output === undefined || output.kind === 'none') builder.emit('DROP')
    else if (output.kind === 'list') {
      builder.emit('LIST_UNPACK', output.items.length)
      storeResults(output.items, scope, builder, output.items.length)
    } else if (output.kind === 'tensor') scope.store(output.name, 'Tensor')
    else if (output.kind === 'symbol') scope.store(output.name, output.type)
    else throw damaged(`a result of the kind ${output.kind}`)
  }
}
