import { damaged, guarded } from '../../program/file-error.js'
import type { FunctionCode } from '../../program/code.js'
import type { ArgumentInfo } from '../../program/signature-info.js'
import { nameOfCode } from '../../runtime/tensor/dtype.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { type Leaf, type LeafType, putTogether, schemaArgument, takeApart } from '../exported/arguments.js'
import { InputChecks, type Range } from '../exported/checks.js'
import { CodeBuilder, type Label } from '../exported/code-builder.js'
import type { Expression } from '../exported/expression.js'
import { withLastUses } from '../exported/last-uses.js'
import { leavesOf, readTree, type Tree } from '../exported/tree.js'
import type { Analysis } from './analysis.js'
import type { Attributes } from './attributes.js'
import type { Kernel } from './kernel.js'
import { argumentsOf, isTree } from './method-arguments.js'
import { constantOf, MethodEmitter, type State } from './method-emitter.js'
import { elementCount, type TensorValue } from './plan.js'

const SELF = 1
/** What tensors may take that a kernel makes on its way to its results, by the elements of these and its arguments: unfolded windows, scores of attention, wider numbers. */
const BYTES_PER_ELEMENT = 256
const FREE_BYTES = 64 << 20
const LEAF: Tree = { kind: 'leaf' }

export interface CompiledMethod {
  readonly code: FunctionCode
  readonly inputs: readonly ArgumentInfo[]
  readonly outputs: readonly ArgumentInfo[]
}

/** What a method is written with. */
export interface MethodContext {
  readonly className: string
  readonly attributes: Attributes
  readonly states: ReadonlyMap<string, State>
  readonly budget: ValueBudget
  /** Why it cannot be run; its calls say so. */
  readonly refusal: string | null
}

/** Writes a plan as a method of an object whose attributes are its constants and what outlives its calls. */
export function compileMethod(analysis: Analysis, context: MethodContext): CompiledMethod {
  return guarded(`method '${analysis.plan.name}'`, () => new MethodCompiler(analysis, context).compile())
}

class MethodCompiler {
  private readonly builder = new CodeBuilder()
  private readonly checks: InputChecks
  private readonly emitter: MethodEmitter
  private readonly ranges = new Map<string, Range>()
  private readonly inputs: ArgumentInfo[] = []

  constructor(
    private readonly analysis: Analysis,
    private readonly context: MethodContext,
  ) {
    const { plan, variables, shared } = analysis
    this.checks = new InputChecks(this.builder, plan.name)
    this.emitter = new MethodEmitter(this.builder, variables, context.attributes, context.states, shared, new Set(plan.outputs))
  }

  compile(): CompiledMethod {
    const { builder, checks } = this
    const { className, refusal } = this.context
    const { plan } = this.analysis
    const args = this.takeArguments()
    const outputs: ArgumentInfo[] = []
    if (refusal === null) {
      this.writeBody()
      outputs.push(...this.writeResults())
      builder.emit('RET')
    } else {
      builder.constant(refusal)
      builder.constant(null)
      builder.emit('RAISE_EXCEPTION')
    }
    checks.writeFailures()
    const self = { name: 'self', type: className, default: undefined }
    const code = builder.finish(className, plan.name, { args: [self, ...args], returns: [{ type: 'Any' }] })
    return { code: withLastUses(code, SELF), inputs: this.inputs, outputs }
  }

  /** Stores the arguments in variables, and checks them. */
  private takeArguments() {
    const { builder, checks } = this
    const { plan } = this.analysis
    const args = argumentsOf(plan, this.context.budget)
    const first = builder.allocateRun(args.length)
    builder.emit('STOREN', SELF, args.length + 1)
    let next = 0
    const places: (readonly [Leaf, number])[] = []
    const schema = args.map((arg, i) => {
      const values = plan.inputs.slice(next, next + leavesOf(arg.tree))
      next += values.length
      takeApart(arg.tree, first + i, arg.name, builder).forEach((leaf, at) => places.push([leaf, values[at]!]))
      return schemaArgument(
        arg,
        values.map((value) => this.leafType(value)),
      )
    })
    for (const [leaf, value] of places) this.check(leaf, value)
    checks.relations(this.ranges, [])
    for (const [leaf, value] of places) this.take(leaf, value)
    return schema
  }

  private isFree(index: number): boolean {
    return this.analysis.variables.keyOf(index) !== null
  }

  private leafType(index: number): LeafType {
    const value = this.emitter.value(index)
    switch (value.kind) {
      case 'tensor':
        return { type: 'Tensor' }
      case 'int':
      case 'bool':
      case 'float':
      case 'str':
        return this.isFree(index) ? { type: value.kind } : { type: value.kind, default: constantOf(value) }
      case 'none':
        // a number that is none yet
        return this.isFree(index) ? { type: 'number' } : { type: 'Any', default: null }
      default:
        throw damaged(`an input is a list of kind '${value.kind}'`)
    }
  }

  private check(leaf: Leaf, index: number): void {
    const { checks } = this
    const value = this.emitter.value(index)
    const name = leaf.path
    switch (value.kind) {
      case 'tensor':
        checks.tensor(leaf, { scalarType: value.scalarType, sizes: this.sizesOf(value, name) })
        this.inputs.push(describe(name, value))
        break
      case 'none':
        if (this.isFree(index)) {
          this.inputs.push({ name, type: 'number' })
          break
        }
        // whatever is given for it, nothing looks at it
        this.inputs.push({ name, type: 'Any', constant: null })
        break
      case 'int':
      case 'bool':
      case 'float':
      case 'str':
        if (this.isFree(index)) this.inputs.push({ name, type: value.kind })
        else {
          checks.constant(leaf, constantOf(value), String(value.value))
          this.inputs.push({ name, type: value.kind, constant: value.value })
        }
    }
  }

  /** Sizes of a dynamic tensor are bounds: each is a symbol of its own. */
  private sizesOf({ sizes, isDynamic }: TensorValue, path: string): Expression[] {
    return sizes.map((size, i) => {
      if (!isDynamic) return { kind: 'int', value: size }
      const name = `${path}.size(${i})`
      this.ranges.set(name, { min: null, max: size })
      return { kind: 'name', name }
    })
  }

  private take({ register }: Leaf, index: number): void {
    const { builder, emitter } = this
    if (!this.isFree(index)) return
    builder.emit('LOAD', register)
    // the caller's tensor is not written to
    if (emitter.value(index).kind === 'tensor' && emitter.isShared(index) && !emitter.isState(index) && emitter.variables.isPlaced(index))
      builder.operator('aten::clone', 1)
    emitter.store(index)
  }

  private writeBody(): void {
    const { builder, emitter } = this
    const { plan, kernels, flow, live } = this.analysis
    // numbers that the program counts with begin as the file has them
    plan.values.forEach((value, i) => {
      const key = value.kind === 'tensor' ? null : emitter.variables.keyOf(i)
      if (key === null || !live.has(key)) return
      builder.constant(constantOf(value))
      emitter.store(i)
    })
    plan.instructions.forEach((item, i) => {
      if (item.kind === 'kernel') kernels[i]!.prepare?.(item.args, emitter)
    })
    const start = new Map<string, number>()
    for (const input of plan.inputs) {
      const key = emitter.variables.keyOf(input)
      if (key !== null) start.set(key, emitter.variables.likeOf(input))
    }
    const contents = flow.contents(start)
    const labels = new Map<number, Label>()
    for (const item of plan.instructions) if (item.kind === 'jump') labels.set(item.destination, builder.label())
    const count = plan.instructions.length
    for (let i = 0; i <= count; i++) {
      const known = contents.get(i)
      if (known !== undefined) emitter.enter(known)
      const label = labels.get(i)
      if (label !== undefined) builder.place(label)
      if (i < count) guarded(`instruction ${i}`, () => this.writeInstruction(i, labels))
    }
  }

  private writeInstruction(at: number, labels: ReadonlyMap<number, Label>): void {
    const { builder, emitter } = this
    const { plan, kernels, variables } = this.analysis
    const item = plan.instructions[at]!
    builder.origin = at
    switch (item.kind) {
      case 'kernel':
        return guarded(item.operator, () => this.writeCall(kernels[at]!, item.args, item.operator, this.mostBytes(item.args)))
      case 'delegate': {
        const { id } = plan.delegates[item.delegate]!
        return guarded(id, () => this.writeDelegate(kernels[at]!, item.args, id))
      }
      case 'move':
        emitter.push(item.from)
        return emitter.store(item.to, emitter.kindOf(item.from))
      case 'jump': {
        const label = labels.get(item.destination)!
        const condition = emitter.value(item.condition)
        if (condition.kind === 'bool' && variables.keyOf(item.condition) === null) {
          if (!condition.value) builder.jump('JMP', label)
          return
        }
        this.pushCondition(item.condition)
        builder.jump('JF', label)
      }
    }
  }

  private writeCall(kernel: Kernel, args: readonly number[], of: string, bytes: number): void {
    const { emitter } = this
    emitter.enterCall({ of, bytes })
    kernel.emit(args, emitter)
    emitter.enterCall(null)
  }

  /**
   * The values of a delegate's graph have sizes in the file, too, which ExecuTorch does not hold them to: XNNPACK follows the sizes of its inputs, and takes more memory where
   * these ask for it. They say how large tensors may be that are made on the way.
   */
  private writeDelegate(kernel: Kernel, args: readonly number[], of: string): void {
    const { builder } = this
    const start = builder.end
    const bytes = this.mostBytes(args) + BYTES_PER_ELEMENT * (kernel.elements ?? 0)
    this.writeCall(kernel, args, of, bytes)
    builder.boundSince(start, { of, bytes, results: [] })
  }

  /** Bytes that no tensor exceeds which a kernel makes on its way: many times what its arguments and results may take. */
  private mostBytes(args: readonly number[]): number {
    const { variables } = this.analysis
    const tensors = args.flatMap((arg) => variables.items(arg)).filter((item) => variables.isTensor(item))
    return FREE_BYTES + BYTES_PER_ELEMENT * tensors.reduce((sum, item) => sum + elementCount(variables.tensor(item).sizes), 0)
  }

  /** A tensor is true where all of its elements are. */
  private pushCondition(index: number): void {
    const { builder, emitter } = this
    const value = emitter.value(index)
    emitter.push(index)
    if (value.kind === 'tensor') {
      builder.operator('aten::all', 1)
      builder.operator('aten::Bool.Tensor', 1)
      return
    }
    const kind = emitter.kindOf(index)
    if (kind === 'int') builder.operator('aten::Bool.int', 1)
    else if (kind !== 'bool') throw damaged(`expected a bool as condition, found ${kind}`)
  }

  private writeResults(): ArgumentInfo[] {
    const { builder, emitter } = this
    builder.origin = -1
    const [tree, results] = this.resultTree()
    let next = 0
    putTogether(tree, builder, () => this.pushResult(results[next++]!))
    return results.map((index, i) => {
      const value = emitter.value(index)
      return value.kind === 'tensor'
        ? describe(`output ${i}`, value)
        : { name: `output ${i}`, type: value.kind === 'none' ? 'None' : value.kind }
    })
  }

  /** How results are put together. */
  private resultTree(): [Tree, readonly number[]] {
    const { inputs, outputs, outputTree } = this.analysis.plan
    const flat = (): Tree => (outputs.length === 1 ? LEAF : { kind: 'tuple', children: outputs.map(() => LEAF) })
    if (!isTree(outputTree)) return [flat(), outputs]
    const tree = readTree(outputTree, new Map(), this.context.budget)
    const extra = outputs.length - leavesOf(tree)
    if (extra < 0) throw damaged(`the result has ${leavesOf(tree)} values, the method gives ${outputs.length}`)
    // inputs that the model writes to come first, and are no part of its result; gradients come last, and are
    return outputs.slice(0, extra).every((output) => inputs.includes(output)) ? [tree, outputs.slice(extra)] : [flat(), outputs]
  }

  private pushResult(index: number): void {
    const { builder, emitter } = this
    emitter.push(index)
    // what outlives the call is not handed out
    if (emitter.value(index).kind === 'tensor' && emitter.isState(index)) builder.operator('aten::clone', 1)
  }
}

function describe(name: string, { scalarType, sizes, isDynamic }: TensorValue): ArgumentInfo {
  const dtype = nameOfCode(scalarType)
  const shape = sizes.map((size, i) =>
    isDynamic ? { text: `${name}.size(${i})`, min: 0, max: size } : { text: String(size), min: size, max: size },
  )
  return { name, type: 'Tensor', ...(dtype === undefined ? {} : { dtype }), shape }
}
