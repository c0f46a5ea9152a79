import { elementsOf, reachable, someTensor } from '../../program/reach.js'
import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import type { ProgramInstance, OperatorCall, RunRecorder } from '../../interpreter/run-state.js'
import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import { isWritten } from '../../runtime/operators/table/schema.js'
import { type DataObserver, observeData } from '../../runtime/tensor/observe.js'
import { hasFewPaths } from '../../runtime/tensor/paths.js'
import { extentOf, sameShape } from '../../runtime/tensor/shape.js'
import { CustomObject, isContainer, ScriptObject, type Stack, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Arg, Graph, GraphConstant, GraphNode, GraphValue, Origin, Result, TensorType, ValueId } from '../graph/graph.js'
import { Guards, isPlain } from './guards.js'
import { hasFact, isTimeless, viewOperator } from './operator-kinds.js'
import { insideOf } from './state-signature.js'
import { tensorAttributes } from '../../program/attributes.js'

/** Why a run cannot be replayed, and where. */
export interface Refusal {
  readonly reason: string
  readonly origin: Origin | null
  /** Another recording may succeed: this run prepared something that later ones find ready. */
  readonly temporary: boolean
}

export interface Recording {
  readonly graph: Graph
  readonly guards: Guards
}

/** A call of an operator that has been made; of an operator with an older meaning it is the call of today's one. */
export interface MadeCall {
  readonly op: LinkedOperator
  readonly args: readonly Value[]
  readonly results: readonly Value[]
  readonly origin: Origin
}

/** A call of an operator that could not be recorded. */
export interface StoppedCall {
  readonly fn: LinkedFunction
  readonly pc: number
  /** Of an operator with an older meaning today's one. */
  readonly called: LinkedOperator
  readonly args: readonly Value[]
  /** The stack before the call, without defaults. */
  readonly stack: readonly Value[]
  /** Of the functions that are being run, outermost first. */
  readonly registers: readonly (readonly Value[])[]
}

/** A GraphRecorder for a run of a method of the program with these arguments, of which `inputs` are the tensors. */
export function recorderOf(program: ProgramInstance, root: ScriptObject, args: readonly Value[], inputs: readonly Tensor[]): GraphRecorder {
  const recorder = new GraphRecorder(program, root, args, [...inputs])
  recorder.expectNoConstants()
  return recorder
}

/** Calls by one instruction that are recorded: passes over a graph of so many steps take longer than they save. */
const MAX_REPEATS = 2048
/** Why no part of a method is recorded. */
export const TOO_LONG = 'a loop has too many steps to be written out'

/**
 * Builds the graph of a run while the interpreter carries it out. Operators on tensors become nodes; whatever else the
 * program computes follows from shapes, attributes and arguments, and is recorded as its value. What would not repeat
 * itself (data read by the program, random numbers, attributes set, arguments written to) refuses the recording.
 */
export class GraphRecorder implements RunRecorder, DataObserver {
  protected readonly values = new Map<ValueId, GraphValue>()
  protected readonly ids = new Map<Tensor, ValueId>()
  protected readonly storages = new Map<Storage, number>()
  protected readonly constants: GraphConstant[] = []
  private readonly constantNames = new Set<string>()
  /** Memory whose contents may differ between runs: inputs, and what follows from them. */
  protected readonly variable = new Set<Storage>()
  protected readonly objects: CustomObject[] = []
  protected readonly nodes: GraphNode[] = []
  /** How often instructions were recorded. */
  private readonly repeats = new Map<LinkedFunction, Map<number, number>>()
  protected readonly local = new Set<Value>()
  protected readonly guards: Guards
  protected readonly inputStorages = new Map<Storage, number>()
  protected readonly inputs: ValueId[]
  private readonly names: ReadonlyMap<Tensor, string>
  private givenContainers: Set<Value> | null = null
  protected refusal: Refusal | null = null
  protected readData: Tensor[] = []
  protected drewRandom = false
  /** Random numbers may be drawn, from the generator of the thread. */
  protected readonly drawsRandom: boolean = false
  /** Operators may write to what is given. */
  protected readonly writesInputs: boolean = false

  constructor(
    protected readonly program: ProgramInstance,
    protected readonly root: ScriptObject,
    private readonly args: readonly Value[],
    /** The tensors among them. */
    protected readonly given: Tensor[],
  ) {
    this.guards = new Guards(program)
    this.names = attributeNames(root)
    for (const { storage } of given) {
      this.inputStorages.set(storage, storage.version)
      this.variable.add(storage)
    }
    // a tensor that is passed twice is one value with two places
    this.inputs = given.map((t) => this.ids.get(t) ?? this.define(t))
  }

  /** Refuses arguments that are constants of the program, which it has returned before: operators on either look the same. */
  expectNoConstants(): void {
    const { given, program } = this
    const isGiven = (value: Value): boolean => value instanceof Tensor && given.includes(value)
    if (given.length > 0 && program.functions.some((fn) => fn.source.constants.some(isGiven)))
      this.stop('an argument is also a constant', null, true)
  }

  /** The run goes on to its end. */
  leavesBefore(_op: LinkedOperator, _fn: LinkedFunction, _pc: number): boolean {
    return false
  }

  settles(_stack: Stack, _count: number): void {}

  compares(a: Value, b: Value, fn: LinkedFunction, pc: number): void {
    const isReference = (v: Value): boolean => v instanceof Tensor || isContainer(v)
    if (isReference(a) && isReference(b) && this.isGiven(a) !== this.isGiven(b))
      this.stop('compares an object of the call with one of the module', originOf(fn, pc))
  }

  called(_fn: LinkedFunction, _pc: number): void {}

  returned(): void {}

  read(tensor: Tensor): void {
    this.readData.push(tensor)
  }

  random(): void {
    this.drewRandom = true
  }

  refuse(reason: string, fn: LinkedFunction, pc: number): void {
    this.stop(reason, originOf(fn, pc))
  }

  attributeRead(object: ScriptObject, slot: number): void {
    if (this.refusal !== null || this.local.has(object)) return
    if (this.holdsGiven(object.slots[slot]!)) return this.stop(`attribute '${object.names[slot] ?? slot}' is also an argument`, null, true)
    if (!this.guards.addAttribute(object, slot))
      this.stop(`reads attribute '${object.names[slot] ?? slot}', a container of many values`, null)
  }

  /** True for an attribute that is, or holds, what the run is also given in another way: it need not be so next time. */
  protected holdsGiven(value: Value): boolean {
    for (const v of insideOf(value)) if (this.isGiven(v)) return true
    return false
  }

  /** True for a tensor or container that the run is given. */
  protected isGiven(value: Value): boolean {
    if (value instanceof Tensor) return this.given.includes(value)
    if (this.givenContainers === null) collectContainers(this.args, (this.givenContainers = new Set<Value>()))
    return this.givenContainers.has(value)
  }

  attributeWritten(object: ScriptObject, slot: number, fn: LinkedFunction, pc: number): void {
    if (!this.local.has(object)) this.stop(`prim::SetAttr sets attribute '${object.names[slot] ?? slot}'`, originOf(fn, pc))
  }

  objectCreated(object: Value): void {
    this.local.add(object)
  }

  operator(call: OperatorCall): void {
    const { op, args, argc, stack, base, fn, pc, run } = call
    if (this.refusal !== null) {
      op.call(stack)
      return
    }
    this.readData = []
    this.drewRandom = false
    // of an operator with an older meaning, the call of today's operator is recorded that it stands for
    const called = op.upgrade?.(stack) ?? op
    const given = stack.values.slice(base, called === op ? base + argc : stack.top)
    this.before(called, given)
    const before = observeData(this)
    try {
      called.call(stack)
    } finally {
      observeData(before)
    }
    const results = stack.values.slice(base, stack.top)
    const origin = originOf(fn, pc)
    if (!hasFewPaths(given) || !hasFewPaths(results)) this.stop(`${called.qualifiedName} works on ${TOO_NESTED}`, origin)
    else if (this.isRepeatedTooOften(fn, pc)) this.stop(TOO_LONG, origin)
    else {
      const made = { op: called, args: given, results, origin }
      if (!this.takes(made, call)) this.note(made)
    }
    const refusal = this.whyStopped()
    if (refusal === null) return
    // the arguments as the instruction found them, without defaults
    const defaults = op.defaults?.length ?? 0
    const first = argc - op.outs - defaults
    const found = [...stack.values.slice(0, base), ...args.slice(0, first), ...args.slice(first + defaults, argc)]
    this.stoppedAt({ fn, pc, called, args: given, stack: found, registers: run.frames }, refusal)
  }

  /** A loop is recorded step by step. */
  private isRepeatedTooOften(fn: LinkedFunction, pc: number): boolean {
    let counts = this.repeats.get(fn)
    if (counts === undefined) this.repeats.set(fn, (counts = new Map<number, number>()))
    const count = (counts.get(pc) ?? 0) + 1
    counts.set(pc, count)
    return count > MAX_REPEATS
  }

  private whyStopped(): Refusal | null {
    return this.refusal
  }

  /** True where the call of an operator, which has been made, is recorded in another way than by a node. */
  protected takes(_made: MadeCall, _call: OperatorCall): boolean {
    return false
  }

  /** An operator is about to be called. */
  protected before(_op: LinkedOperator, _args: readonly Value[]): void {}

  /** The call of an operator, which has been made, has ended the recording. */
  protected stoppedAt(_call: StoppedCall, _refusal: Refusal): void {}

  private note({ op, args, results, origin }: MadeCall): void {
    const { qualifiedName: name, entry } = op
    const isRandom = this.drewRandom && !(this.drawsRandom && args.every((arg) => !(arg instanceof CustomObject)))
    if (isRandom || hasFact(name, 'time_dependent')) return this.stop(`${name} gives another result each time`, origin)
    if (entry === null) {
      // what stands in for an operator has no entry of its own; it is harmless on plain values
      if ([...args, ...results].every(isPlain) && this.readData.length === 0) return
      return this.stop(`${name} has no entry in the table`, origin)
    }
    if (entry.source !== null) return this.stop(`${name} is a custom operator`, origin)
    if (this.refuseRead(name, args, origin)) return
    const writes = this.writtenBy(entry, args, origin)
    if (writes === null) return
    if (results.length === 0 && writes.length === 0 && !isTimeless(name, entry.schema))
      return this.stop(`${name} acts outside of the model`, origin)
    const made = new Set<Tensor>()
    for (const result of results) this.collectNew(result, made)
    const objects = results.filter((r) => (r instanceof CustomObject || r instanceof ScriptObject) && !args.includes(r))
    if (objects.length > 0 && !this.packsConstants(objects, args)) return this.stop(`${name} makes an object`, origin)
    if (made.size === 0 && writes.length === 0) return
    if (this.reachesBeyond(name, args, made)) return this.stop(`${name} reaches memory beyond an argument`, origin)
    const view = viewOperator(name)
    if (view !== null) return this.addReshaped(view, args, origin)
    if (entry.schema.isVararg) return this.stop(`${name} takes any number of tensors`, origin)
    this.addNode(entry, args, results, made, writes, origin)
  }

  private addNode(
    entry: OperatorEntry,
    args: readonly Value[],
    results: readonly Value[],
    made: ReadonlySet<Tensor>,
    writes: readonly Tensor[],
    origin: Origin,
  ): void {
    for (const t of [...args, ...made])
      if (t instanceof Tensor && t.isSparse) return this.stop(`${entry.qualifiedName} works on sparse tensors`, origin)
    const recorded: Arg[] = []
    for (const arg of args) {
      const a = this.argument(arg)
      if (a === null) return this.stop(`${entry.qualifiedName} takes an object`, origin)
      recorded.push(a)
    }
    if (this.drewRandom || hasFact(entry.qualifiedName, 'uninitialized') || someTensor(args, (t) => this.isVariable(t))) {
      for (const t of [...made, ...writes]) this.variable.add(t.storage)
    }
    const written = writes.map((t) => this.ids.get(t)!)
    for (const t of writes) {
      const { type } = this.values.get(this.ids.get(t)!)!
      if (
        !sameShape(type.shape, t.shape) ||
        !sameShape(type.strides, t.strides) ||
        this.storages.get(t.storage) !== this.values.get(this.ids.get(t)!)!.storage
      ) {
        return this.stop(`${entry.qualifiedName} changes the shape of a tensor in place`, origin)
      }
    }
    this.nodes.push({
      kind: 'operator',
      op: entry.qualifiedName,
      args: recorded,
      results: results.map((r) => this.result(r, made, writes)),
      writes: written,
      origin,
      ...(this.drewRandom ? { draws: true } : {}),
    })
  }

  /**
   * True where an operator uses memory of an argument beyond its elements: a later argument of the same form may have none there. Only
   * operators that are told strides do, by a view that they return or read themselves.
   */
  private reachesBeyond(name: string, args: readonly Value[], made: ReadonlySet<Tensor>): boolean {
    const inside = ({ storage, offset, shape, strides, itemSize }: Tensor): boolean => {
      const end = (offset + extentOf(shape, strides)) * itemSize
      return this.given.some((t) => {
        const start = t.offset * t.itemSize
        return t.storage === storage && offset * itemSize >= start && end <= start + extentOf(t.shape, t.strides) * t.itemSize
      })
    }
    for (const t of made) if (this.inputStorages.has(t.storage) && t.numel > 0 && !inside(t)) return true
    const [first] = args
    if (!hasFact(name, 'reads_by_strides') || !(first instanceof Tensor) || !this.inputStorages.has(first.storage)) return false
    const { storage } = first
    return !this.given.some((t) => t.storage === storage && extentOf(t.shape, t.strides) * t.itemSize === storage.byteLength)
  }

  /** A tensor that became another view of its memory is a new value from here on. */
  private addReshaped(op: string, args: readonly Value[], origin: Origin): void {
    const target = args[0] as Tensor
    const recorded = args.map((arg) => this.argument(arg)!)
    const id = this.define(target)
    this.nodes.push({ kind: 'operator', op, args: recorded, results: [{ kind: 'value', id }], writes: [], origin })
  }

  /** The graph of the run, which has returned `result`; or why there is none. */
  finish(result: Value): Recording | Refusal {
    if (this.refusal !== null) return this.refusal
    for (const [storage, version] of this.inputStorages) {
      if (storage.version !== version) return refusalOf('writes to an argument')
    }
    if (!this.guards.hold()) return refusalOf('writes to an attribute')
    if (!hasFewPaths([result])) return refusalOf(`returns ${TOO_NESTED}`)
    const outer = new Set<Value>()
    collectContainers([this.root, ...this.args], outer)
    const output = this.output(result, outer, new Set())
    if (output === null) return refusalOf('returns an object, or a list that it was given or returns twice')
    const { values, inputs, constants, objects, nodes } = this
    return { graph: { values, inputs, constants, objects, nodes, output }, guards: this.guards }
  }

  protected stop(reason: string, origin: Origin | null, temporary = false): void {
    this.refusal ??= { reason, origin, temporary }
  }

  /** Refuses where the operator let data of a run reach the program. */
  private refuseRead(name: string, args: readonly Value[], origin: Origin): boolean {
    if (this.readData.length === 0 || hasFact(name, 'inner_reads')) return false
    const runs = [...reachable(args)].filter((t) => this.isVariable(t))
    if (runs.length === 0) {
      // constants give the same result each time, but must stay as they are
      for (const t of reachable(args)) this.idOf(t)
      return false
    }
    // numbers that are tensors of the module, like the scale of a quantization, are known from here on
    for (const t of this.readData) if (!this.isVariable(t) && reachable(args).has(t)) this.idOf(t)
    for (const t of this.readData) {
      if (this.isVariable(t)) {
        this.stop(`${name} reads the contents of a tensor`, origin)
        return true
      }
      // what the operator made on its way may follow from variable tensors
      if (!this.guards.hasStorage(t.storage) && !t.pinned && !this.storages.has(t.storage)) {
        this.stop(`${name} reads the contents of a tensor`, origin, true)
        return true
      }
    }
    return false
  }

  /** True for weights that are packed during the run: the object is the same each time, and so is recorded as its value. */
  private packsConstants(objects: readonly Value[], args: readonly Value[]): boolean {
    const packed = reachable(args)
    if (!objects.every((o) => o instanceof CustomObject) || [...packed].some((t) => this.isVariable(t))) return false
    for (const t of packed) this.guards.addTensor(t)
    return true
  }

  /** True for tensors that may differ between runs: inputs and what follows from them. */
  private isVariable(t: Tensor): boolean {
    return this.variable.has(t.storage)
  }

  /** Tensors that the operator writes to; null where that cannot be repeated, which has been noted. */
  private writtenBy(entry: OperatorEntry, args: readonly Value[], origin: Origin): Tensor[] | null {
    const written: Tensor[] = []
    const { arguments: declared } = entry.schema
    // the statistics of a batch norm change in training alone
    const isTraining = args[declared.findIndex(({ name }) => name === 'training')]
    if (isTraining === false && hasFact(entry.qualifiedName, 'writes_in_training')) return []
    for (let i = 0; i < declared.length && i < args.length; i++) {
      if (!isWritten(declared[i])) continue
      const arg = args[i]!
      if (arg instanceof Tensor) written.push(arg)
      else if (Array.isArray(arg) && declared[i]!.type.startsWith('Tensor')) written.push(...arg.filter((t) => t instanceof Tensor))
      else if (typeof arg === 'object' && arg !== null && this.isOuter(arg)) {
        this.stop(`${entry.qualifiedName} changes a container that outlives the call`, origin)
        return null
      }
    }
    for (const t of written) {
      const storage = t.storage
      const known = this.ids.get(t)
      // a tensor of the caller keeps its shape
      const isFixed =
        this.inputStorages.has(storage) && (!this.writesInputs || (viewOperator(entry.qualifiedName) !== null && this.given.includes(t)))
      if (isFixed || this.guards.hasStorage(storage) || known === undefined) {
        this.stop(`${entry.qualifiedName} writes to an ${this.inputStorages.has(storage) ? 'argument' : 'attribute'}`, origin)
        return null
      }
    }
    this.noteWritten(written)
    return written
  }

  /** A node will write to these. */
  protected noteWritten(_written: readonly Tensor[]): void {}

  /** True for memory that nodes write to. */
  protected isWritten(_storage: Storage): boolean {
    return false
  }

  /** True for a list, dict or object that is there before and after the run. */
  protected isOuter(container: Value): boolean {
    const outer = new Set<Value>()
    collectContainers([this.root, ...this.args, ...this.program.functions.flatMap((fn) => fn.source.constants)], outer)
    return outer.has(container)
  }

  private collectNew(result: Value, made: Set<Tensor>): void {
    if (result instanceof Tensor) this.collectMade(result, made)
    else if (typeof result === 'object' && result !== null) this.collectInside(result, made)
  }

  private collectInside(container: Value, made: Set<Tensor>): void {
    const seen = new Set<Value>()
    const pending = [container]
    while (pending.length > 0) {
      const value = pending.pop() ?? null
      if (value instanceof Tensor) this.collectMade(value, made)
      // a list may hold itself
      else if (typeof value === 'object' && !seen.has(value)) {
        seen.add(value)
        if (Array.isArray(value)) for (const item of value) pending.push(item)
        else if (value instanceof Tuple) for (const item of value.items) pending.push(item)
        else if (value instanceof Map) for (const item of value.values()) pending.push(item)
      }
    }
  }

  private collectMade(tensor: Tensor, made: Set<Tensor>): void {
    // attributes and elements of containers come from reads, which make nothing
    if (!this.ids.has(tensor) && !tensor.pinned) made.add(tensor)
  }

  /** The value of a tensor; a new constant for one that the run has not made. */
  private idOf(t: Tensor): ValueId {
    const known = this.ids.get(t)
    if (known !== undefined) return known
    if (this.isWritten(t.storage)) this.stop('reads an attribute after its memory was written to in another way', null)
    const id = this.define(t)
    this.constants.push({ id, name: this.nameOf(t), tensor: t, derived: false })
    this.guards.addTensor(t)
    return id
  }

  private nameOf(t: Tensor): string {
    let name = this.names.get(t) ?? `constant${this.constants.length}`
    if (this.constantNames.has(name)) name += `#${this.constants.length}`
    this.constantNames.add(name)
    return name
  }

  protected define(t: Tensor): ValueId {
    const id = this.values.size
    let storage = this.storages.get(t.storage)
    if (storage === undefined) this.storages.set(t.storage, (storage = this.storages.size))
    this.values.set(id, { id, type: typeOf(t), storage })
    this.ids.set(t, id)
    return id
  }

  private argument(arg: Value): Arg | null {
    if (arg instanceof Tensor) return { kind: 'value', id: this.idOf(arg) }
    if (arg instanceof CustomObject) {
      let index = this.objects.indexOf(arg)
      if (index < 0) index = this.objects.push(arg) - 1
      for (const t of reachable([arg])) this.guards.addTensor(t)
      return { kind: 'object', index }
    }
    if (isPlain(arg)) return { kind: 'constant', value: copyOf(arg) }
    const items = arg instanceof Tuple ? arg.items : Array.isArray(arg) ? arg : null
    if (items === null) return null
    const recorded = items.map((item) => this.argument(item))
    if (recorded.includes(null)) return null
    return arg instanceof Tuple
      ? { kind: 'tuple', items: recorded as Arg[], fields: arg.fields }
      : { kind: 'list', items: recorded as Arg[] }
  }

  private result(result: Value, made: ReadonlySet<Tensor>, writes: readonly Tensor[]): Result {
    if (result instanceof Tensor) {
      // what was written to is a new value under the old name
      if (made.has(result) ? !this.ids.has(result) : writes.includes(result)) return { kind: 'value', id: this.define(result) }
      return { kind: 'ignored' }
    }
    const items = result instanceof Tuple ? result.items : Array.isArray(result) ? result : null
    if (items === null) return { kind: 'ignored' }
    const recorded = items.map((item) => this.result(item, made, writes))
    return recorded.every((r) => r.kind === 'ignored') ? { kind: 'ignored' } : { kind: 'list', items: recorded }
  }

  private output(result: Value, outer: ReadonlySet<Value>, seen: Set<Value>): Arg | null {
    if (result instanceof Tensor) return !result.isSparse ? { kind: 'value', id: this.idOf(result) } : null
    if (typeof result !== 'object' || result === null) return { kind: 'constant', value: result }
    if (result instanceof ScriptObject || result instanceof CustomObject) return null
    if (Array.isArray(result) || result instanceof Map) {
      if (outer.has(result) || seen.has(result)) return null
      seen.add(result)
    }
    if (result instanceof Map) {
      const entries = [...result].map(([key, item]) => [key, this.output(item, outer, seen)] as const)
      if (entries.some(([key, item]) => typeof key === 'object' || item === null)) return null
      return { kind: 'dict', entries: entries as (readonly [string, Arg])[] }
    }
    const items = result instanceof Tuple ? result.items : Array.isArray(result) ? result : null
    if (items === null) return { kind: 'constant', value: result }
    const recorded = items.map((item) => this.output(item, outer, seen))
    if (recorded.includes(null)) return null
    return result instanceof Tuple
      ? { kind: 'tuple', items: recorded as Arg[], fields: result.fields }
      : { kind: 'list', items: recorded as Arg[] }
  }
}

const TOO_NESTED = 'lists, tuples or dicts that are nested too deep, or too often in each other'

export function refusalOf(reason: string): Refusal {
  return { reason, origin: null, temporary: false }
}

export function originOf(fn: LinkedFunction, pc: number): Origin {
  return { functionName: fn.source.name, pc: pc / 3 }
}

export function typeOf(t: Tensor): TensorType {
  return { dtype: t.type, shape: [...t.shape], strides: [...t.strides], offset: t.offset, quant: t.quant }
}

/** Lists are copied: the program may change its own. */
function copyOf(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf)
  if (value instanceof Tuple) return new Tuple(value.items.map(copyOf), value.fields)
  return value instanceof Map ? new Map([...value].map(([key, item]) => [key, copyOf(item)])) : value
}

export function collectContainers(roots: readonly Value[], found: Set<Value>): void {
  const pending = [...roots]
  while (pending.length > 0) {
    const v = pending.pop()!
    if (typeof v !== 'object' || v === null || v instanceof Tensor || found.has(v)) continue
    found.add(v)
    // not spread: a list may hold more than a call takes
    for (const item of elementsOf(v) ?? []) if (typeof item === 'object') pending.push(item)
  }
}

/** Dotted paths of the tensors among the attributes of `root` and its submodules; of a tensor with several the first. */
function attributeNames(root: ScriptObject): Map<Tensor, string> {
  const names = new Map<Tensor, string>()
  for (const [name, tensor] of tensorAttributes(root)) if (!names.has(tensor)) names.set(tensor, name)
  return names
}
