import type { FunctionCode } from '../../program/code.js'
import { nameOfCode } from '../../runtime/tensor/dtype.js'
import {
  type CallArgument,
  callArguments,
  flatArguments,
  type Leaf,
  type LeafType,
  putTogether,
  schemaArgument,
  takeApart,
  typeText,
} from '../exported/arguments.js'
import { InputChecks, type Range } from '../exported/checks.js'
import { CodeBuilder } from '../exported/code-builder.js'
import { type Expression, textOfExpression } from '../exported/expression.js'
import type { Argument, Graph, GraphNode } from './graph.js'
import { emitHigherOrder, higherOrderName } from './higher-order.js'
import { damaged, guarded, unsupported } from '../../program/file-error.js'
import type { ArgumentInfo, Dimension } from '../../program/signature-info.js'
import { emitOperator, operatorName, writesInPlace } from './operators.js'
import { Scope } from './scope.js'
import type { GraphSignature } from './signature.js'
import { emitSymbolic, isSymbolic } from './symbolic.js'
import type { MetaOf } from './tensor-meta.js'
import { type CallTrees, leavesOf, type Tree } from '../exported/tree.js'

/** An exported program, checked as far as its text goes. */
export interface ExportedProgram {
  readonly graph: Graph
  readonly signature: GraphSignature
  readonly trees: CallTrees | null
  readonly ranges: ReadonlyMap<string, Range>
  readonly guards: readonly string[]
  /** The descriptions of a graph's tensors. */
  metasOf(graph: Graph): MetaOf
  /** What a symbolic int of the outermost graph stands for. */
  symbolOf(name: string): Expression | null
}

export interface CompiledProgram {
  readonly code: FunctionCode
  /** Of each instruction the number of its node in `nodes`; -1 for none. */
  readonly origins: readonly number[]
  readonly nodes: readonly GraphNode[]
  readonly inputs: readonly ArgumentInfo[]
  readonly outputs: readonly ArgumentInfo[]
}

const SELF = 1

/**
 * Writes a program as a method of an object whose attributes are its parameters, buffers and constants: `slots` numbers them by name. Throws
 * INVALID_FILE for graphs that are not in order, UNSUPPORTED_FILE for what this runtime has not got.
 */
export function compileProgram(
  program: ExportedProgram,
  className: string,
  method: string,
  slots: ReadonlyMap<string, number>,
): CompiledProgram {
  return new ProgramCompiler(program, slots, method).compile(className)
}

class ProgramCompiler {
  private readonly builder = new CodeBuilder()
  private readonly scope: Scope
  private readonly nodes: GraphNode[] = []
  private readonly checks: InputChecks
  private readonly tensorMeta: MetaOf
  private readonly inputs: ArgumentInfo[] = []
  private readonly outputs: ArgumentInfo[] = []
  /** Type of what is returned. */
  private result = 'Any'
  /** Nothing in the program writes to a tensor. */
  private isFunctional: boolean | undefined
  /** Arguments that are given back at once where the graph does not use them. */
  private readonly unused: { readonly name: string; readonly register: number }[] = []

  constructor(
    private readonly program: ExportedProgram,
    private readonly slots: ReadonlyMap<string, number>,
    private readonly method: string,
  ) {
    this.scope = new Scope(program.graph, this.builder)
    this.tensorMeta = program.metasOf(program.graph)
    this.checks = new InputChecks(this.builder, method)
    // they are written to at the end
    for (const output of program.signature.outputs) if (output.kind === 'input') this.scope.keep(output.name)
  }

  compile(className: string): CompiledProgram {
    const { builder, checks, nodes, inputs, outputs } = this
    const { graph, signature } = this.program
    if (graph.inputs.length !== signature.inputs.length || graph.outputs.length !== signature.outputs.length)
      throw damaged('the graph has other inputs or outputs than its signature')
    const leaves = this.userInputs()
    const args = this.callArguments(leaves.length)
    const schemaArgs = this.takeArguments(args, leaves)
    this.emitNodes(this.scope)
    builder.origin = -1
    this.writeResults()
    builder.emit('RET')
    checks.writeFailures()
    const self = { name: 'self', type: className, default: undefined }
    const schema = { args: [self, ...schemaArgs], returns: [{ type: 'Any', described: this.result }] }
    return { code: builder.finish(className, this.method, schema), origins: builder.origins, nodes, inputs, outputs }
  }

  /** Names the state that the graph takes as inputs; what is left are the caller's. */
  private userInputs(): { readonly input: Argument; readonly name: string }[] {
    const { graph, signature } = this.program
    const inputs: { input: Argument; name: string }[] = []
    signature.inputs.forEach((spec, i) => {
      const input = graph.inputs[i]!
      switch (spec.kind) {
        case 'state': {
          if (input.kind !== 'tensor' || input.name !== spec.name)
            throw damaged(`input ${i} of the graph is not '${spec.name}' as its signature says`)
          this.scope.define(input.name, { kind: 'attribute', slot: this.slotOf(spec.target), type: 'Tensor' })
          break
        }
        case 'token':
          this.scope.define(spec.name, { kind: 'constant', argument: { kind: 'none' }, type: 'token' })
          break
        case 'constant':
          inputs.push({ input: spec.value, name: spec.name })
          break
        case 'user':
          inputs.push({ input, name: input.kind === 'tensor' || input.kind === 'symbol' ? input.name : `arg${i}` })
      }
    })
    return inputs
  }

  private slotOf(target: string): number {
    const slot = this.slots.get(target)
    if (slot === undefined) throw damaged(`the file has no values of '${target}'`)
    return slot
  }

  private callArguments(count: number): CallArgument[] {
    const { trees } = this.program
    const args = trees === null ? flatArguments(count, []) : callArguments(trees.inputs, trees.names)
    const leaves = args.reduce((sum, { tree }) => sum + leavesOf(tree), 0)
    if (leaves !== count) throw damaged(`the arguments have ${leaves} values, the graph takes ${count}`)
    return args
  }

  /** Stores the arguments in registers, names what is in them, and checks it. */
  private takeArguments(args: readonly CallArgument[], inputs: readonly { readonly input: Argument; readonly name: string }[]) {
    const { builder, checks, scope, program } = this
    const first = builder.allocateRun(args.length)
    builder.emit('STOREN', SELF, args.length + 1)
    let next = 0
    const schema = args.map((arg, i) => {
      const leaves = inputs.slice(next, next + leavesOf(arg.tree))
      next += leaves.length
      const places = takeApart(arg.tree, first + i, arg.name, builder)
      places.forEach((leaf, at) => this.takeLeaf(leaf, leaves[at]!))
      return schemaArgument(
        arg,
        leaves.map(({ input }) => leafType(input)),
      )
    })
    checks.relations(program.ranges, program.guards)
    checks.release()
    for (const { name, register } of this.unused) {
      if (scope.isUsed(name)) continue
      builder.emit('DROPR', register)
      builder.release(register)
    }
    return schema
  }

  private takeLeaf(leaf: Leaf, { input, name }: { readonly input: Argument; readonly name: string }): void {
    const { checks, program, scope } = this
    const { path, register } = leaf
    switch (input.kind) {
      case 'tensor': {
        const meta = this.tensorMeta(input.name)
        if (meta === undefined) throw damaged(`the file does not describe the input '${input.name}'`)
        checks.tensor(leaf, meta)
        this.unused.push({ name, register })
        scope.define(name, { kind: 'register', register, type: 'Tensor', isOwn: true })
        break
      }
      case 'symbol':
        if (input.type === 'int') checks.int(leaf, program.symbolOf(input.name))
        scope.define(name, { kind: 'register', register, type: input.type, isOwn: true })
        break
      case 'none':
        checks.constant(leaf, null, 'None')
        break
      case 'constant':
        checks.constant(leaf, input.value, this.constantText(input))
        break
      default:
        throw unsupported(`the argument ${path} is of a kind (${input.kind}) that this runtime has not got`)
    }
    this.inputs.push(this.describe(path, input))
  }

  private constantText(argument: Argument): string {
    if (argument.kind !== 'constant') return 'None'
    const { value } = argument
    return typeof value === 'object' && value !== null && 'value' in value
      ? String(value.value)
      : JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item))
  }

  /** Writes the nodes of a graph. */
  private readonly emitNodes = (scope: Scope): void => {
    const { builder } = this
    for (const node of scope.graph.nodes) {
      const outer = builder.origin
      builder.origin = this.nodes.push(node) - 1
      guarded(`node '${node.name}' (${node.target})`, () => this.emitNode(node, scope))
      builder.origin = outer
    }
  }

  private emitNode(node: GraphNode, scope: Scope): void {
    const { builder, program } = this
    const { target } = node
    const operator = this.inOwnLayout(operatorName(target))
    const higher = higherOrderName(target)
    if (operator !== undefined) emitOperator(operator, node, scope, builder, (name) => program.metasOf(scope.graph)(name)?.scalarType)
    else if (higher === 'with_effects') this.emitEffect(node, scope)
    else if (higher !== undefined) emitHigherOrder(higher, node, scope, builder, this.emitNodes, (graph) => program.metasOf(graph))
    else if (isSymbolic(target)) emitSymbolic(node, scope, builder)
    else
      throw unsupported(
        'a function of Python that this runtime has not got; export it after ep.run_decompositions(), which leaves operators',
      )
  }

  /**
   * The program's views fit the strides that PyTorch gives to results, of which this runtime has others in places: convolutions of channels-last tensors. Where nothing is
   * written to in place a copy does as well.
   */
  private inOwnLayout(operator: string | undefined): string | undefined {
    if (operator !== 'aten::view') return operator
    this.isFunctional ??= !writesInPlace(this.program.graph)
    return this.isFunctional ? 'aten::reshape' : operator
  }

  /** An operator that must not be left out or moved, which tokens tell: (token, operator, its arguments) -> (token, its results). Code is in order anyway. */
  private emitEffect(node: GraphNode, scope: Scope): void {
    const [before, operator, ...inputs] = node.inputs
    const [after, ...outputs] = node.outputs
    if (before?.argument.kind !== 'tensor' || operator?.argument.kind !== 'operator' || after?.kind !== 'tensor')
      throw damaged('expected a token and an operator')
    scope.drop(before.argument.name)
    const results = outputs.filter(({ kind }) => kind !== 'none')
    this.emitNode({ ...node, target: operator.argument.name, inputs, outputs: results }, scope)
    scope.define(after.name, { kind: 'constant', argument: { kind: 'none' }, type: 'token' })
  }

  /** Writes changed state and inputs back, and puts the results together. */
  private writeResults(): void {
    const { builder, scope } = this
    const { graph, signature, trees } = this.program
    const results: Argument[] = []
    signature.outputs.forEach((spec, i) => {
      const output = graph.outputs[i]!
      if (spec.kind === 'user') results.push(output)
      if (spec.kind !== 'state' && spec.kind !== 'input') return
      if (output.kind !== 'tensor') throw damaged(`output ${i}: expected a tensor, found ${output.kind}`)
      if (spec.kind === 'state') {
        builder.emit('LOAD', SELF)
        builder.emit('GET_ATTR', this.slotOf(spec.target))
      } else scope.push(spec.name)
      scope.push(output.name)
      builder.operator('aten::copy_', 2)
      builder.emit('DROP')
    })
    const tree: Tree =
      trees?.outputs ?? (results.length === 1 ? { kind: 'leaf' } : { kind: 'tuple', children: results.map(() => ({ kind: 'leaf' })) })
    if (leavesOf(tree) !== results.length) throw damaged(`the result has ${leavesOf(tree)} values, the graph gives ${results.length}`)
    let next = 0
    putTogether(tree, builder, () => this.pushResult(results[next++]!))
    results.forEach((output, i) =>
      this.outputs.push(this.describe(output.kind === 'tensor' || output.kind === 'symbol' ? output.name : `output ${i}`, output)),
    )
    this.result = typeText(tree, this.outputs)
  }

  private pushResult(output: Argument): void {
    const { builder, scope } = this
    if (output.kind === 'tensor' || output.kind === 'symbol') scope.push(output.name)
    else if (output.kind === 'constant') builder.constant(output.value)
    else if (output.kind === 'none') builder.constant(null)
    else throw unsupported(`a result of a kind (${output.kind}) that this runtime has not got`)
  }

  private describe(name: string, argument: Argument): ArgumentInfo {
    switch (argument.kind) {
      case 'tensor': {
        const meta = this.tensorMeta(argument.name)
        if (meta === undefined) return { name, type: 'Tensor' }
        const dtype = nameOfCode(meta.scalarType)
        return { name, type: 'Tensor', ...(dtype === undefined ? {} : { dtype }), shape: meta.sizes.map((size) => this.dimension(size)) }
      }
      case 'symbol':
        return { name, type: argument.type }
      case 'constant': {
        const { value, type } = argument
        if (type === 'complex' || type === 'Device') return { name, type: 'str', constant: this.constantText(argument) }
        return { name, type, constant: typeof value === 'object' ? Number(this.constantText(argument)) : value }
      }
      default:
        return { name, type: 'None', constant: null }
    }
  }

  private dimension(size: Expression | null): Dimension {
    if (size?.kind === 'int') return { text: String(size.value), min: size.value, max: size.value }
    const text = size === null ? '?' : textOfExpression(size)
    const range = this.program.ranges.get(text)
    return { text, min: range?.min ?? 0, max: range?.max ?? null }
  }
}

/** What a schema says of an input of the graph. */
function leafType(leaf: Argument): LeafType {
  switch (leaf.kind) {
    case 'none':
      return { type: 'Any', default: null }
    case 'tensor':
      return { type: 'Tensor' }
    case 'symbol':
      return { type: leaf.type }
    case 'constant': {
      const { type, value } = leaf
      return { type: type === 'complex' || type === 'Device' ? 'Any' : type, default: value }
    }
    default:
      return { type: 'Any' }
  }
}
