import type { Arg, Graph, GraphNode, TensorType, ValueId } from '../../../compiler/graph/graph.js'
import type { NumberSource } from '../../../compiler/record/region-number.js'
import type { PrologueArg, PrologueStep } from '../../../compiler/record/region-prologue.js'
import { unsupported } from '../../../program/file-error.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { contiguousStrides, sameShape } from '../../../runtime/tensor/shape.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import type { Value } from '../../../runtime/tensor/value.js'

/** A graph while inputs and nodes are added in front of it. */
export class GraphPrefix {
  private readonly values: Map<ValueId, { readonly id: ValueId; readonly storage: number; readonly type: TensorType }>
  private readonly constants: Graph['constants'][number][]
  private readonly nodes: GraphNode[] = []
  /** What gives views, by these: they show what is in the memory where they are used. */
  private readonly views = new Map<ValueId, GraphNode>()
  private nextId: number
  private nextStorage: number

  constructor(private readonly graph: Graph) {
    this.values = new Map(graph.values)
    this.constants = [...graph.constants]
    this.nextId = 1 + Math.max(-1, ...this.values.keys())
    this.nextStorage = 1 + Math.max(-1, ...[...this.values.values()].map(({ storage }) => storage))
  }

  typeOf(id: ValueId): TensorType {
    return this.values.get(id)!.type
  }

  storageOf(id: ValueId): number {
    return this.values.get(id)!.storage
  }

  private define(type: TensorType, storage = this.nextStorage++): ValueId {
    const id = this.nextId++
    this.values.set(id, { id, storage, type })
    return id
  }

  /** `storage` is what the graph calls the tensor's memory, where it does. */
  input({ type: dtype, shape, strides, offset, quant }: Tensor, storage: number | undefined): ValueId {
    return this.define({ dtype, shape, strides, offset, quant }, storage)
  }

  constant(tensor: Tensor): ValueId {
    const known = this.constants.find((one) => one.tensor === tensor)
    if (known !== undefined) return known.id
    const shared = this.constants.find((one) => one.tensor.storage === tensor.storage)
    const { type: dtype, shape, strides, offset, quant } = tensor
    const id = this.define({ dtype, shape, strides, offset, quant }, shared === undefined ? undefined : this.storageOf(shared.id))
    this.constants.push({ id, name: `constant ${id}`, tensor, derived: false })
    return id
  }

  /** An operator in front of those of the graph; its result is a value that is known, or a new one of this type. */
  node(op: string, args: readonly Arg[], result: ValueId | TensorType, storage?: number): ValueId {
    const id = typeof result === 'number' ? result : this.define(result, storage)
    this.nodes.push({ kind: 'operator', op, args, results: [{ kind: 'value', id }], writes: [], origin: null })
    return id
  }

  /** The same for an operator that gives a view: it comes right before what uses it first. */
  view(op: string, args: readonly Arg[], result: ValueId | TensorType, storage: number): ValueId {
    const id = this.node(op, args, result, storage)
    this.views.set(id, this.nodes.pop()!)
    return id
  }

  /** The graph with these inputs alone. */
  finish(inputs: readonly ValueId[], output: Arg): Graph {
    const { graph, values, constants, views } = this
    const nodes: GraphNode[] = []
    const place = (id: ValueId): void => {
      const view = views.get(id)
      if (view === undefined) return
      views.delete(id)
      argsOf(view).forEach(place)
      nodes.push(view)
    }
    for (const node of [...this.nodes, ...graph.nodes]) {
      argsOf(node).forEach(place)
      nodes.push(node)
    }
    valuesIn(output).forEach(place)
    return { ...graph, values, inputs, constants, nodes, output }
  }
}

function argsOf(node: GraphNode): ValueId[] {
  return node.kind === 'operator' ? node.args.flatMap(valuesIn) : []
}

function valuesIn(arg: Arg): ValueId[] {
  switch (arg.kind) {
    case 'value':
      return [arg.id]
    case 'list':
    case 'tuple':
      return arg.items.flatMap(valuesIn)
    case 'dict':
      return arg.entries.flatMap(([, item]) => valuesIn(item))
    default:
      return []
  }
}

function plainType(dtype: DType, shape: readonly number[] = []): TensorType {
  return { dtype, shape, strides: contiguousStrides(shape), offset: 0, quant: null }
}

const valueArg = (id: ValueId): Arg => ({ kind: 'value', id })
const constantArg = (value: Value): Arg => ({ kind: 'constant', value })

/** A number that is computed, as a tensor of one element, or one that is the same in each call. */
type Operand = { readonly id: ValueId } | { readonly value: number | Float }

/** An int as one that varies and a constant: equal keys are equal numbers. */
interface Form {
  readonly key: string
  readonly offset: number
}

/** Dtypes of ranges whose numbers are ints that become these. */
const RANGES: ReadonlySet<DType> = new Set([DType.int32, DType.int64, DType.float32, DType.float64])

/** Operators that make a tensor of one number. */
const SCALARS: ReadonlySet<string> = new Set(['aten::tensor.int', 'aten::tensor.float', 'aten::scalar_tensor'])

function argOf(operand: Operand): Arg {
  return 'id' in operand ? valueArg(operand.id) : constantArg(operand.value)
}

function varies(name: string): Error {
  return unsupported(`${name} from a number that outlives calls up to one that may be further from it`)
}

/**
 * What a region computes of numbers that outlive calls, before everything else: int64 and float64 tensors of one element in the place of the numbers, and operators of tensors
 * in that of numbers' own. Parts of tensors at places that are computed become rows at an index. Throws UNSUPPORTED_FILE, saying why, for what has no form.
 */
export class Numbers {
  private readonly computed: ValueId[] = []
  private readonly made: ValueId[] = []
  /** Of those that are computed. */
  private readonly forms: Form[] = []

  /** `starts`: those that attributes hold, as inputs. `tensorAt`: a tensor of the start. `madeIds`: what the graph calls those that steps make, where it has them. */
  constructor(
    private readonly prefix: GraphPrefix,
    private readonly starts: readonly ValueId[],
    private readonly tensorAt: (index: number) => ValueId,
    private readonly madeIds: ReadonlyMap<number, ValueId>,
  ) {}

  add(steps: readonly PrologueStep[]): void {
    for (const step of steps) this.addStep(step)
  }

  numberOf({ kind, index }: NumberSource): ValueId {
    return (kind === 'int' ? this.starts : this.computed)[index]!
  }

  madeAt(index: number): ValueId {
    return this.made[index]!
  }

  private addStep(step: PrologueStep): void {
    const { op, args, gives } = step
    switch (gives.kind) {
      case 'nothing':
        return
      case 'same':
        if (step.isRange !== true)
          throw unsupported(
            `a number that outlives calls decides what it does${op === null ? ', or the sizes of tensors' : ` (${op.qualifiedName})`}`,
          )
        return
      case 'int':
        this.computed.push(step.reads === true ? this.read(args) : this.compute(op!.qualifiedName, args))
        this.forms.push(this.formOfStep(op!.qualifiedName, args, this.computed.at(-1)!))
        return
      case 'tensor': {
        const known = this.madeIds.get(this.made.length)
        const { type: dtype, ...layout } = gives.like
        this.made.push(this.tensor(op!.qualifiedName, args, { dtype, ...layout }, known))
      }
    }
  }

  private formOf(arg: PrologueArg): Form {
    if (arg.kind === 'computed') return this.forms[arg.index]!
    if (arg.kind !== 'value') return { key: `${arg.kind} ${arg.index}`, offset: 0 }
    const { value } = arg
    if (typeof value === 'number') return { key: '', offset: value }
    return { key: value instanceof Float ? `float ${value.value}` : String(value), offset: 0 }
  }

  private formOfStep(name: string, args: readonly PrologueArg[], result: ValueId): Form {
    const forms = args.map((arg) => this.formOf(arg))
    const [a, b] = forms
    const sign = this.isFloat({ id: result }) ? 0 : /^aten::add(\.int)?$/.test(name) ? 1 : /^aten::sub(\.int)?$/.test(name) ? -1 : 0
    if (sign !== 0 && b!.key === '') return { key: a!.key, offset: a!.offset + sign * b!.offset }
    if (sign === 1 && a!.key === '') return { key: b!.key, offset: a!.offset + b!.offset }
    return { key: `${name}(${forms.map(({ key, offset }) => `${key} + ${offset}`).join()})`, offset: 0 }
  }

  /** Whether there are always `count` ints from one number up to another, `step` apart. */
  private isCount(count: number, start: PrologueArg, end: PrologueArg | undefined, step = 1): boolean {
    if (end === undefined || end.kind === 'tensor' || end.kind === 'made') return false
    const [from, to] = [this.formOf(start), this.formOf(end)]
    return from.key === to.key && Math.ceil((to.offset - from.offset) / step) === count
  }

  private operand(arg: PrologueArg): Operand {
    if (arg.kind === 'int' || arg.kind === 'computed') return { id: this.numberOf(arg) }
    if (arg.kind === 'value' && (typeof arg.value === 'number' || arg.value instanceof Float)) return { value: arg.value }
    throw unsupported('numbers that outlive calls are computed with others than ints and floats')
  }

  private isFloat(operand: Operand): boolean {
    return 'id' in operand ? this.prefix.typeOf(operand.id).dtype === DType.float64 : operand.value instanceof Float
  }

  private as(id: ValueId, dtype: DType, known?: ValueId): ValueId {
    const type = this.prefix.typeOf(id)
    if (type.dtype === dtype) return id
    const args = [valueArg(id), constantArg(dtype), constantArg(false), constantArg(false), constantArg(null)]
    return this.prefix.node('aten::to.dtype', args, known ?? plainType(dtype, type.shape))
  }

  /** Both of one dtype, a float where one of them is or has to be. */
  private common(operands: readonly Operand[], float = false): readonly [DType, readonly Operand[]] {
    const dtype = float || operands.some((operand) => this.isFloat(operand)) ? DType.float64 : DType.int64
    return [dtype, operands.map((operand) => ('id' in operand ? { id: this.as(operand.id, dtype) } : operand))]
  }

  private number(op: string, dtype: DType, ...args: readonly Arg[]): ValueId {
    return this.prefix.node(op, args, plainType(dtype))
  }

  /** A number that is the same in each call, as a tensor like another one. */
  constant(value: number | Float, like: ValueId, dtype: DType): ValueId {
    const base = this.as(like, dtype)
    const args = [valueArg(base), constantArg(value), ...Array<Arg>(5).fill(constantArg(null))]
    return this.prefix.node('aten::full_like', args, plainType(dtype))
  }

  private compute(name: string, args: readonly PrologueArg[]): ValueId {
    const [base = ''] = name.split('.')
    const operands = args.map((arg) => this.operand(arg))
    const [x, y] = operands
    switch (base) {
      case 'aten::add':
      case 'aten::mul':
        return this.sum(base, operands)
      case 'aten::sub':
        return this.difference(operands)
      case 'aten::neg': {
        const [dtype, given] = this.common(operands)
        // of a Scalar it rounds floats to float32
        if (name === base && dtype === DType.float64) break
        return this.number('aten::neg', dtype, argOf(given[0]!))
      }
      case 'aten::div':
        return this.quotient(operands, true, ['aten::div.Tensor', 'aten::div.Scalar'])
      case 'aten::floordiv':
        return this.floorQuotient(operands)
      case 'aten::remainder':
        return this.remainder(operands)
      case 'prim::max':
        return this.extreme(operands, 'aten::gt.Tensor')
      case 'prim::min':
        return this.extreme(operands, 'aten::lt.Tensor')
      case 'aten::Float':
        if (x !== undefined && y === undefined && 'id' in x) return this.as(x.id, DType.float64)
        break
      case 'aten::Int':
        // to zero, as a cast does
        if (x !== undefined && y === undefined && 'id' in x) return this.as(x.id, DType.int64)
    }
    throw unsupported(`${name} of a number that outlives calls`)
  }

  private sum(base: string, operands: readonly Operand[]): ValueId {
    const [dtype, [x, y]] = this.common(operands)
    const alpha = base === 'aten::add' ? [constantArg(1)] : []
    const [a, b] = 'id' in x! ? [x, y!] : [y!, x!]
    return this.number(`${base}.${'id' in b ? 'Tensor' : 'Scalar'}`, dtype, argOf(a), argOf(b), ...alpha)
  }

  private difference(operands: readonly Operand[]): ValueId {
    const [dtype, [x, y]] = this.common(operands)
    if ('id' in x!) return this.number(`aten::sub.${'id' in y! ? 'Tensor' : 'Scalar'}`, dtype, argOf(x), argOf(y!), constantArg(1))
    return this.number('aten::rsub.Scalar', dtype, argOf(y!), argOf(x!), constantArg(1))
  }

  private quotient(
    operands: readonly Operand[],
    float: boolean,
    [ofTensors, ofNumber]: readonly [string, string],
    ...modes: Value[]
  ): ValueId {
    const [dtype, [x, y]] = this.common(operands, float)
    const rest = modes.map(constantArg)
    if ('id' in x!) return this.number('id' in y! ? ofTensors : ofNumber, dtype, argOf(x), argOf(y!), ...rest)
    const { id } = y as { readonly id: ValueId }
    return this.number(ofTensors, dtype, valueArg(this.constant(x!.value, id, dtype)), valueArg(id), ...rest)
  }

  /** Of floats the floor of the rounded quotient, as TorchScript has it; that of tensors is the floor of the exact one. */
  private floorQuotient(operands: readonly Operand[]): ValueId {
    if (!operands.some((operand) => this.isFloat(operand)))
      return this.quotient(operands, false, ['aten::div.Tensor_mode', 'aten::div.Scalar_mode'], 'floor')
    const quotient = this.quotient(operands, true, ['aten::div.Tensor', 'aten::div.Scalar'])
    return this.number('aten::floor', DType.float64, valueArg(quotient))
  }

  /** Of floats fmod(b + fmod(a, b), b), as TorchScript has it, with its roundings. */
  private remainder(operands: readonly Operand[]): ValueId {
    if (!operands.some((operand) => this.isFloat(operand)))
      return this.quotient(operands, false, ['aten::remainder.Tensor', 'aten::remainder.Scalar'])
    const rest = (of: readonly Operand[]): Operand => ({ id: this.quotient(of, true, ['aten::fmod.Tensor', 'aten::fmod.Scalar']) })
    const by = operands[1]!
    const moved = this.sum('aten::add', [rest(operands), by])
    return (rest([{ id: moved }, by]) as { readonly id: ValueId }).id
  }

  /** The first number where it is beyond the second one, as TorchScript has it: the second one where either is NaN. */
  private extreme(operands: readonly Operand[], isBeyond: string): ValueId {
    const [dtype, given] = this.common(operands)
    const { id: like } = given.find((operand) => 'id' in operand) as { readonly id: ValueId }
    const [a, b] = given.map((operand) => valueArg('id' in operand ? operand.id : this.constant(operand.value, like, dtype))) as [Arg, Arg]
    return this.number('aten::where.self', dtype, valueArg(this.number(isBeyond, DType.bool, a, b)), a, b)
  }

  /** The number that a tensor of one element holds. */
  private read([from]: readonly PrologueArg[]): ValueId {
    const id = this.source(from!)
    const { dtype, shape } = this.prefix.typeOf(id)
    // as it is now: the tensor may be written to later
    const type = plainType(dtype)
    const one =
      shape.length === 0
        ? this.prefix.node('aten::clone', [valueArg(id), constantArg(null)], type)
        : this.prefix.node('aten::reshape', [valueArg(id), constantArg([])], type)
    return this.as(one, DType.int64)
  }

  private source(arg: PrologueArg): ValueId {
    if (arg.kind === 'tensor') return this.tensorAt(arg.index)
    if (arg.kind === 'made') return this.made[arg.index]!
    if (arg.kind === 'value' && arg.value instanceof Tensor) return this.prefix.constant(arg.value)
    throw unsupported('numbers that outlive calls are read in another way than from tensors')
  }

  /** A tensor that a step makes. */
  private tensor(name: string, args: readonly PrologueArg[], type: TensorType, known: ValueId | undefined): ValueId {
    const isNumber = (arg: PrologueArg | undefined): boolean => arg?.kind === 'int' || arg?.kind === 'computed'
    if (name === 'prim::NumToTensor.Scalar' && isNumber(args[0])) {
      const number = this.numberOf(args[0] as NumberSource)
      return known === undefined ? number : this.renamed(number, known)
    }
    const filled = name === 'aten::full' ? args[1] : SCALARS.has(name) ? args[0] : undefined
    if (isNumber(filled) && args.every((arg) => arg === filled || !isNumber(arg))) {
      const number = this.as(this.numberOf(filled as NumberSource), type.dtype)
      return this.prefix.node('aten::expand', [valueArg(number), constantArg([...type.shape]), constantArg(false)], known ?? type)
    }
    if (name === 'aten::arange.start' && isNumber(args[0])) {
      const number = this.numberOf(args[0] as NumberSource)
      if (this.isFloat({ id: number }) || !RANGES.has(type.dtype) || !this.isCount(type.shape[0]!, args[0]!, args[1])) throw varies(name)
      return this.range(number, type, known)
    }
    if (!args.some(isNumber)) return this.same(name, args, type, known)
    const [from, dim, start, end] = args
    const isSlice = name === 'aten::slice.Tensor'
    if ((isSlice || name === 'aten::narrow' || name === 'aten::select.int') && isNumber(start)) {
      const axis = dim?.kind === 'value' && typeof dim.value === 'number' ? dim.value : NaN
      const stepArg = isSlice ? args[4] : undefined
      const step = stepArg?.kind === 'value' && typeof stepArg.value === 'number' ? stepArg.value : 1
      const isPlaced = isSlice ? isNumber(end) && !isNumber(stepArg) : !isNumber(end)
      if (!Number.isNaN(axis) && isPlaced) {
        const [first, last] = [start, isSlice ? end : start].map((arg) => this.numberOf(arg as NumberSource)) as [ValueId, ValueId]
        if (isSlice && !this.isCount(type.shape.at(axis)!, start!, end, step)) throw varies(name)
        return this.rows(this.source(from!), axis, { first, last, step }, name, type, known)
      }
    }
    throw unsupported(`${name} at a place that follows from a number that outlives calls`)
  }

  private renamed(id: ValueId, known: ValueId): ValueId {
    return this.prefix.node('aten::clone', [valueArg(id), constantArg(null)], known)
  }

  /** As many ints as a tensor has, from a number on. */
  private range(start: ValueId, type: TensorType, known: ValueId | undefined): ValueId {
    const ints = plainType(DType.int64, type.shape)
    const all = this.prefix.node(
      'aten::arange',
      [type.shape[0]!, DType.int64, null, null, null].map((value) => constantArg(value)),
      ints,
    )
    const isInts = type.dtype === DType.int64
    const range = this.prefix.node('aten::add.Tensor', [valueArg(all), valueArg(start), constantArg(1)], isInts ? (known ?? ints) : ints)
    return isInts ? range : this.as(range, type.dtype, known)
  }

  /** What does not depend on numbers that vary. */
  private same(name: string, args: readonly PrologueArg[], type: TensorType, known: ValueId | undefined): ValueId {
    const given = args.map((arg): Arg => {
      if (arg.kind === 'value' && !(arg.value instanceof Tensor)) return constantArg(arg.value)
      return valueArg(this.source(arg))
    })
    const base = given.find((arg) => arg.kind === 'value')
    if (base?.kind !== 'value') return this.prefix.node(name, given, known ?? type)
    return this.prefix.view(name, given, known ?? type, this.prefix.storageOf(base.id))
  }

  /**
   * A view of a tensor at a place that is computed: the rows that it shows, in the tensor's memory as far as the graph goes. Places count from the end where `last`, which is one
   * of them or behind them, is negative; one that is negative without that is no index.
   */
  private rows(
    source: ValueId,
    axis: number,
    { first, last, step }: { readonly first: ValueId; readonly last: ValueId; readonly step: number },
    name: string,
    type: TensorType,
    known: ValueId | undefined,
  ): ValueId {
    const { prefix } = this
    const whole = prefix.typeOf(source)
    const dim = axis < 0 ? axis + whole.shape.length : axis
    const isOne = name === 'aten::select.int'
    const count = isOne ? 1 : type.shape[dim]!
    const size = whole.shape[dim]!
    const below = this.number('aten::clamp', DType.int64, valueArg(last), constantArg(-1), constantArg(0))
    const back = this.number('aten::mul.Scalar', DType.int64, valueArg(below), constantArg(size))
    const place = this.number('aten::sub.Tensor', DType.int64, valueArg(first), valueArg(back), constantArg(1))
    const ints = plainType(DType.int64, [count])
    const all = prefix.node('aten::arange.start_step', [0, count * step, step, DType.int64, null, null, null].map((value) => constantArg(value)), ints) // prettier-ignore
    const index = prefix.node('aten::add.Tensor', [valueArg(all), valueArg(place), constantArg(1)], ints)
    const part = { ...whole, shape: whole.shape.with(dim, count) }
    const args = [valueArg(source), constantArg(dim), valueArg(index)]
    const storage = prefix.storageOf(source)
    const rows = prefix.view(
      'aten::index_select',
      args,
      isOne ? part : (known ?? { ...type, strides: whole.strides, offset: whole.offset }),
      storage,
    )
    if (!isOne) return rows
    const without = <T>(list: readonly T[]): T[] => list.filter((_, i) => i !== dim)
    const one: TensorType = { ...whole, shape: without(whole.shape), strides: without(whole.strides) }
    if (!sameShape(one.shape, type.shape)) throw unsupported(`${name} of a tensor of other sizes`)
    return prefix.view('aten::select.int', [valueArg(rows), constantArg(dim), constantArg(0)], known ?? one, storage)
  }
}
