import type { Frame } from '../../interpreter/activation.js'
import { reachable } from '../../program/reach.js'
import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import type { OperatorCall } from '../../interpreter/run-state.js'
import type { ProgramInstance } from '../../interpreter/run-state.js'
import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import { isWritten } from '../../runtime/operators/table/schema.js'
import { sameLayout } from '../../runtime/tensor/shape.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { type Container, CustomObject, isContainer, ScriptObject, type Stack, Tuple, type Value } from '../../runtime/tensor/value.js'
import { definitionsOf, type Graph, type Origin, type TensorType, type ValueId } from '../graph/graph.js'
import { usesOf } from '../graph/node.js'
import type { ModuleParts, Place } from './module-parts.js'
import {
  collectContainers,
  GraphRecorder,
  type MadeCall,
  originOf,
  type Recording,
  type Refusal,
  refusalOf,
  type StoppedCall,
  typeOf,
  TOO_LONG,
} from './recorder.js'
import { isPlain } from './guards.js'
import { hasFact } from './operator-kinds.js'
import type { RegionEnd, RegionRecording, Stand } from './region.js'
import { TracedNumber } from './region-number.js'
import { tensorForm } from './numbers-in-tensors.js'
import { callAside, isFixable, type PrologueArg } from './region-prologue.js'
import { type Read, RegionTrace, valueArg } from './region-trace.js'
import { insideOf, itemsOf, keysOf, StateDescription } from './state-signature.js'
import { MAX_LEVELS } from '../../runtime/tensor/paths.js'
import { containerTemplate, type ContainerTemplate, type Template } from './template.js'

/** Where the recording of a region begins, and when the run is left once it has ended. */
export interface RegionStart {
  readonly parts: ModuleParts
  /** Functions that are being run, outermost first. */
  readonly frames: readonly Frame[]
  /** Values of the state: registers and stack. */
  readonly values: readonly Value[]
  /** Places of the ints among them that may be others in later runs. */
  readonly varying: ReadonlySet<number>
  /** True where another region may begin. */
  leavesBefore(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean
  /** True for reads of numbers that lead calls elsewhere: regions end there. */
  decides(read: Read): boolean
  noteDeciding(reads: Iterable<Read>): void
  /** What is recorded is written down, and not run: floats of attributes may be others in later runs, and lists and dicts in attributes are state where they are changed. */
  readonly followsAll: boolean
}

/** Records from a state of a run up to what cannot be recorded. Null where the state has no signature. */
export function regionRecorderOf(program: ProgramInstance, root: ScriptObject, start: RegionStart): RegionRecorder | null {
  const description = new StateDescription(start.parts)
  if (!start.values.every((value, i) => description.add(value, start.varying.has(i)))) return null
  return new RegionRecorder(program, root, start, description)
}

/**
 * Records a part of a run: from a state that the interpreter has come to, up to an operator that cannot be recorded. What attributes are set
 * to, and what lists and dicts of the start hold at the end, is described with the state at the end.
 */
export class RegionRecorder extends GraphRecorder {
  /** Calls that are under way, in functions of the model. */
  private readonly calls: { readonly fn: LinkedFunction; readonly pc: number }[]
  /** What lists and dicts of the start held then, and what those held that the operator at hand is given. */
  private readonly containers = new Map<Container, Container>()
  private readonly changing = new Map<Container, Container>()
  private readonly reads: Place[] = []
  protected override readonly drawsRandom = true
  protected override readonly writesInputs = true
  /** Memory of inputs that nodes write to. */
  private readonly writtenMemory = new Set<Storage>()
  /** Attributes that were set, and where. */
  private readonly written = new Map<ScriptObject, Map<number, Origin>>()
  /** Objects of which attributes were set, behind the end of the region too. */
  private readonly holders = new Set<ScriptObject>()
  private ended: RegionRecording | null = null
  /** The recording has ended where an attribute was written to that was not known to be state. */
  private looksForState = false
  private outer: Set<Value> | null = null
  /** Inputs that the prologue makes, with their values. */
  private readonly hoisted = new Map<Tensor, ValueId>()
  /** How nodes have made views. */
  private readonly views = new Map<Tensor, { readonly op: LinkedOperator; readonly args: readonly Value[] }>()
  private readonly trace: RegionTrace
  /** Of the operator that is being called: the numbers among its arguments that may be others in later runs. */
  private tracedArgs: readonly (TracedNumber | null)[] | null = null
  /** Tensors that hold numbers that vary, by these. */
  private readonly numberTensors = new Map<string, Tensor>()
  private readonly templates = new Map<Container, Template | null>()
  /** Of containers whose templates are being made. */
  private levels = 0
  private readonly outputs: ValueId[] = []

  constructor(
    program: ProgramInstance,
    root: ScriptObject,
    private readonly start: RegionStart,
    private readonly description: StateDescription,
  ) {
    super(program, root, start.values, [...description.found.tensors])
    this.calls = start.frames.slice(0, -1).map(({ fn, pc }) => ({ fn, pc }))
    this.trace = new RegionTrace(description.found, (reads) => start.noteDeciding(reads), start.followsAll)
    this.noteContainers()
  }

  /** What has to stand in the place of numbers of the start while the run is recorded, by their places among its values. */
  standIns(): Map<number, TracedNumber> {
    const { values, varying } = this.start
    const places = [...values.keys()].filter((i) => varying.has(i) && typeof values[i] === 'number')
    return new Map(places.map((place, index) => [place, this.trace.ofStart(index)]))
  }

  /** Puts numbers back where others stood for them. `roots` are all lists that the run still holds. */
  putBack(roots: readonly Value[][]): void {
    const objects = [...this.local, ...this.holders].filter((object) => object instanceof ScriptObject)
    this.trace.putBack([...roots, ...objects.map(({ slots }) => slots)])
  }

  override settles({ values, top }: Stack, count: number): void {
    for (let i = top - count; i < top; i++) values[i] = this.settled(values[i]!)
  }

  /** The value that an operator or instruction sees, to which the recording is bound from here on. */
  private settled(value: Value): Value {
    if (value instanceof TracedNumber) return this.trace.bind(value)
    if (isContainer(value)) this.trace.bindAll(value)
    return value
  }

  override operator(call: OperatorCall): void {
    const { op, args, argc, stack, base } = call
    this.tracedArgs = null
    if (this.trace.isUsed) {
      const given = args.slice(0, argc)
      // an operator of an older meaning, or of as many arguments as the call says, is not looked into
      const follow = this.refusal === null && op.upgrade === undefined && !op.vararg
      if (follow && given.some((arg) => arg instanceof TracedNumber))
        this.tracedArgs = given.map((arg) => (arg instanceof TracedNumber ? arg : null))
      given.forEach((arg, i) => {
        stack.values[base + i] = follow && arg instanceof TracedNumber ? arg.value : this.settled(arg)
      })
    }
    super.operator(this.withNumbersInTensors(call))
    // attributes whose memory an operator writes to become state, for the next recording
    if (!this.looksForState) return
    const changed = changedBy(op, args)
    for (const { storage } of reachable(changed)) this.start.parts.addStateIn(storage)
    if (this.start.followsAll) this.containersFound(changed)
  }

  /** The call of an operator that is given the numbers that vary in a tensor, in place of one that takes them as they are. */
  private withNumbersInTensors(call: OperatorCall): OperatorCall {
    const traced = this.tracedArgs
    const { op, argc, stack, base } = call
    const form = traced === null || op.entry === null ? null : tensorForm(op.entry, stack.values.slice(base, base + argc), traced)
    if (traced === null || form === null) return call
    const { maker, checks, called } = form
    const key = [
      maker.op.qualifiedName,
      ...maker.values.map((value, i) => (maker.numbers[i] === null ? String(value) : JSON.stringify(maker.numbers[i]!.source))),
    ].join()
    let made = this.numberTensors.get(key)
    if (made === undefined) {
      made = callAside(maker.op, maker.values)[0] as Tensor
      if (!this.hoist(maker.op, maker.values, maker.numbers, made)) return call
      for (const { op, values, numbers } of checks) this.trace.inRange(op, this.stepArgs(values, numbers)!)
      this.numberTensors.set(key, made)
    }
    const args = form.argsWith(made)
    this.tracedArgs = null
    const upgrade = (): LinkedOperator => {
      for (const [i, arg] of args.entries()) stack.values[base + i] = arg
      stack.top = base + args.length
      return called
    }
    return { ...call, op: { ...op, upgrade } }
  }

  /** Follows numbers that may be others in later runs through an operator that they are given to. */
  protected override takes(made: MadeCall, call: OperatorCall): boolean {
    const { op, args, results, origin } = made
    const { stack, base } = call
    const traced = this.tracedArgs
    if (traced === null) {
      const [view] = results
      if (view instanceof Tensor && args.some((arg) => arg instanceof Tensor && arg.storage === view.storage))
        this.views.set(view, { op, args: [...args] })
      if (this.movesOver(op, args)) this.stop(`${op.qualifiedName} reads and writes memory at places that change from call to call`, origin)
      return this.refusal !== null || this.hoistRead(made, call)
    }
    const { qualifiedName: name, entry } = op
    const writes = entry !== null && writesTo(entry)
    const ordinary = entry !== null && isOrdinary(entry) && !this.drewRandom
    const [result] = results
    if (ordinary && results.length === 1 && this.readData.length === 0) {
      if (args.every(isPlain) && isFixable(result)) {
        const made = this.trace.compute(op, this.stepArgs(args, traced)!, result!)
        if (made !== null) stack.values[base] = made
        return true
      }
      if (result instanceof Tensor && this.hoist(op, args, traced, result)) return true
    }
    if (ordinary && results.length === 0 && args.every(isPlain) && hasFact(name, 'no_effect')) {
      this.trace.check(op, this.stepArgs(args, traced)!)
      return true
    }
    const isNew = (t: Tensor): boolean => !this.ids.has(t) && !t.pinned
    if (writes ? args.some((arg) => arg instanceof Tensor) : [...reachable(results)].some(isNew)) {
      this.stop(`${name} takes a number that changes from call to call`, origin)
      return true
    }
    for (const t of traced) if (t !== null) this.trace.bind(t)
    return false
  }

  /** True where an operator writes to memory that it is also given elsewhere, of which views are at places that vary: they may come to overlap. */
  private movesOver(op: LinkedOperator, args: readonly Value[]): boolean {
    if (this.hoisted.size === 0) return false
    const moving = new Set([...this.hoisted.keys()].map(({ storage }) => storage))
    return changedBy(op, args).some(
      (written) =>
        written instanceof Tensor &&
        moving.has(written.storage) &&
        [...reachable(args)].some((t) => t !== written && t.storage === written.storage),
    )
  }

  /** Makes an operator that reads an int in a tensor which is there before the run, and a view of one, a step of the prologue. */
  private hoistRead({ op, args, results }: MadeCall, { stack, base, fn, pc }: OperatorCall): boolean {
    const [t] = args
    const [value] = results
    if (!READS.has(op.qualifiedName) || args.length !== 1 || !(t instanceof Tensor) || typeof value !== 'number') return false
    if (!this.variable.has(t.storage) || this.writtenMemory.has(t.storage) || this.start.decides({ fn, pc })) return false
    const undo = this.trace.mark()
    const source = this.sourceOf(t)
    if (source === null) {
      undo()
      return false
    }
    stack.values[base] = this.trace.read(op, [source], value, { fn, pc })
    return true
  }

  /** The arguments of an operator for a prologue; null where they are known only later. */
  private stepArgs(args: readonly Value[], traced: readonly (TracedNumber | null)[]): PrologueArg[] | null {
    const found: PrologueArg[] = []
    for (const [i, value] of args.entries()) {
      const number = traced[i] ?? null
      const arg = number !== null ? number.source : value instanceof Tensor ? this.sourceOf(value) : isPlain(value) ? valueArg(value) : null
      if (arg === null) return null
      found.push(arg)
    }
    return found
  }

  /** A tensor that is there before the run, or a view of one, which the prologue makes too. */
  private sourceOf(t: Tensor): PrologueArg | null {
    const index = this.description.found.tensors.indexOf(t)
    if (index >= 0) return { kind: 'tensor', index }
    const made = this.trace.made.indexOf(t)
    if (made >= 0) return { kind: 'made', index: made }
    const view = this.views.get(t)
    if (view !== undefined) {
      const ordinary = view.op.entry !== null && isOrdinary(view.op.entry) && !t.isSparse && t.quant === null
      const steps = ordinary ? this.stepArgs(view.args, []) : null
      return steps !== null && this.trace.makes(view.op, steps, t) ? { kind: 'made', index: this.trace.made.length - 1 } : null
    }
    if (!this.start.parts.belongs(t) || this.constants.some(({ tensor }) => tensor.storage === t.storage)) return null
    this.guards.addTensor(t)
    return valueArg(t)
  }

  /**
   * Makes an operator a step of the prologue, and its result an input: a view of a tensor that is there before, or a new tensor of numbers.
   * False where its form follows from numbers that vary, or it has read what a tensor holds.
   */
  private hoist(op: LinkedOperator, args: readonly Value[], traced: readonly (TracedNumber | null)[], result: Tensor): boolean {
    const sources = args.filter((arg) => arg instanceof Tensor)
    const isView = sources.length === 1 && sources[0]!.storage === result.storage
    if (result.isSparse || result.quant !== null || args.includes(result) || this.ids.has(result)) return false
    if (!isView && sources.length > 0) return false
    const undo = this.trace.mark()
    const steps = this.stepArgs(args, traced)
    const known = steps === null ? null : this.trace.find(op, steps)
    if (known !== null) {
      this.ids.set(result, this.ids.get(known)!)
      return true
    }
    if (steps === null || !this.trace.makes(op, steps, result)) {
      undo()
      return false
    }
    this.inputStorages.set(result.storage, result.storage.version)
    this.variable.add(result.storage)
    const id = this.define(result)
    this.hoisted.set(result, id)
    this.given.push(result)
    this.inputs.push(id)
    return true
  }

  override leavesBefore(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean {
    return this.ended !== null && this.start.leavesBefore(op, fn, pc)
  }

  override called(fn: LinkedFunction, pc: number): void {
    this.calls.push({ fn, pc })
  }

  override returned(): void {
    this.calls.pop()
  }

  override attributeRead(object: ScriptObject, slot: number): void {
    if (this.refusal !== null || this.local.has(object) || this.written.get(object)?.has(slot) === true) return
    if (this.start.parts.isState(object, slot) || this.holdsGiven(object.slots[slot]!)) this.stateRead(object, slot)
    else super.attributeRead(object, slot)
  }

  protected override isGiven(value: Value): boolean {
    const { tensors, containers } = this.description.found
    return value instanceof Tensor ? tensors.includes(value) : isContainer(value) && containers.includes(value)
  }

  protected override isWritten(storage: Storage): boolean {
    return this.writtenMemory.has(storage)
  }

  override attributeWritten(object: ScriptObject, slot: number, fn: LinkedFunction, pc: number): void {
    if (this.local.has(object)) return
    this.holders.add(object)
    if (this.ended !== null) return
    const origin = originOf(fn, pc)
    // what was read as something that stays the same has to be recorded as state
    if (this.start.parts.addState(object, slot) && this.guards.hasAttribute(object, slot))
      this.stop(`prim::SetAttr sets attribute '${object.names[slot] ?? slot}'`, origin, true)
    this.lookAround()
    let slots = this.written.get(object)
    if (slots === undefined) this.written.set(object, (slots = new Map<number, Origin>()))
    slots.set(slot, origin)
  }

  /** An attribute that is state is one more argument. */
  private stateRead(object: ScriptObject, slot: number): void {
    if (this.reads.some((place) => place.object === object && place.slot === slot)) return
    const { description } = this
    const { tensors } = description.found
    const { containers } = description.found
    const [before, held] = [tensors.length, containers.length]
    const value = object.slots[slot]!
    // what some run sets to an int is a counter more often than not
    const varies = typeof value === 'number' || (value instanceof Float && this.start.followsAll)
    if (!description.add(value, varies)) return this.stop(`reads attribute '${object.names[slot] ?? slot}', which is state`, null)
    this.reads.push({ object, slot })
    if (varies) this.trace.replaceSlot(object, slot)
    if (containers.slice(held).some((container) => this.guards.hasContainer(container))) return this.stopTwoWays(value)
    for (const t of tensors.slice(before)) {
      const known = this.ids.get(t)
      if ((known !== undefined && !this.given.includes(t)) || this.guards.isInContainer(t)) return this.stopTwoWays(value)
      // its contents are no longer those that the region began with
      if (known === undefined && this.writtenMemory.has(t.storage))
        return this.stop('state is read after its memory was written to in another way', null)
      this.given.push(t)
      this.inputStorages.set(t.storage, t.storage.version)
      this.variable.add(t.storage)
      this.inputs.push(known ?? this.define(t))
    }
    this.noteContainers()
  }

  /** State was read as an attribute that stays the same, which is state from now on. */
  private stopTwoWays(value: Value): void {
    const state = insideOf(value)
    for (const { object, slot } of this.guards.knownAttributes())
      if ([...insideOf(object.slots[slot]!)].some((v) => state.has(v))) this.start.parts.addState(object, slot)
    this.stop('state is also read in another way', null, true)
  }

  /** Remembers what containers of the start hold. */
  private noteContainers(): void {
    for (const container of this.description.found.containers)
      if (!this.containers.has(container)) this.containers.set(container, shallowCopy(container))
  }

  protected override isOuter(container: Value): boolean {
    // all that the region is given may change, and is described at its end
    if (this.description.found.containers.includes(container as Container)) return false
    return this.lookAround().has(container)
  }

  /** Containers and objects that are there before the region: asked for before the first change to what the module holds. */
  private lookAround(): ReadonlySet<Value> {
    if (this.outer === null) {
      this.outer = new Set()
      collectContainers([this.root, ...this.program.functions.flatMap((fn) => fn.source.constants)], this.outer)
    }
    return this.outer
  }

  protected override noteWritten(written: readonly Tensor[]): void {
    for (const { storage } of written) if (this.inputStorages.has(storage)) this.writtenMemory.add(storage)
  }

  /** Lists and dicts that an operator may change are remembered as they are before. */
  protected override before(op: LinkedOperator, args: readonly Value[]): void {
    this.changing.clear()
    for (const arg of changedBy(op, args)) if (isContainer(arg)) this.changing.set(arg, shallowCopy(arg))
    if (this.changing.size > 0) this.lookAround()
  }

  /** The region ends before this call of an operator, unless something is alive that cannot be described. */
  protected override stoppedAt({ fn, pc, called, args, stack, registers }: StoppedCall, { reason, origin, temporary }: Refusal): void {
    if (temporary || reason === TOO_LONG) return
    const touched = new Set([...reachable(changedBy(called, args))].map((t) => t.storage))
    const found: unknown[] = [...touched].filter((storage) => this.start.parts.addStateIn(storage))
    if (this.start.followsAll) found.push(...this.containersFound(changedBy(called, args)))
    if (found.length > 0) {
      // with these as state a region may go on beyond; what the rest of the run writes to is found on the way
      this.refusal = { reason, origin, temporary: true }
      this.looksForState = true
      return
    }
    if (!this.intact(touched)) return
    const stands: Stand[] = []
    for (const [i, place] of [...this.calls, { fn, pc }].entries()) {
      const held: [number, Template][] = []
      for (const [number, value] of registers[i]!.entries()) {
        if (number === 0 || value === null) continue
        const template = this.template(value)
        if (template === null) return
        held.push([number, template])
      }
      stands.push({ fn: place.fn, pc: place.pc, registers: held })
    }
    const values = this.templatesOf(stack)
    if (values !== null) this.ended = this.regionUpTo({ kind: 'step', reason, origin, stands, stack: values })
  }

  /** Lists and dicts of attributes that were not known to be state. */
  private containersFound(changed: readonly Value[]): Container[] {
    return changed.filter((value): value is Container => isContainer(value) && this.start.parts.addStateHolding(value))
  }

  /** True where the run wrote to nothing but what operators were seen to write to, `except` for these. */
  private intact(except: ReadonlySet<Storage>): boolean {
    for (const [storage, version] of this.inputStorages)
      if (storage.version !== version && !except.has(storage) && !this.writtenMemory.has(storage)) return false
    return this.guards.areUnwritten(except)
  }

  private templatesOf(values: readonly Value[]): Template[] | null {
    const templates: Template[] = []
    for (const value of values) {
      const template = this.template(value)
      if (template === null) return null
      templates.push(template)
    }
    return templates
  }

  /** How a later run makes a value of this one. Null where it cannot, or where it is nested too deep to be worth while. */
  private template(value: Value): Template | null {
    if (typeof value !== 'object' || value === null) return { kind: 'value', value }
    if (value instanceof Tensor) return this.tensorTemplate(value)
    if (value instanceof TracedNumber) return value.source
    if (value instanceof ScriptObject || value instanceof CustomObject)
      return this.start.parts.belongs(value) ? { kind: 'value', value } : null
    if (!isContainer(value)) return { kind: 'value', value }
    const index = this.description.found.containers.indexOf(value)
    if (index >= 0) return { kind: 'given', index }
    if (this.isOuter(value)) return { kind: 'value', value }
    const known = this.templates.get(value)
    if (known !== undefined) return known
    // null until it is known: containers that hold themselves have no template
    this.templates.set(value, null)
    if (this.levels === MAX_LEVELS) return null
    this.levels++
    const template = containerTemplate(this.changing.get(value) ?? value, (item) => this.template(item))
    this.levels--
    this.templates.set(value, template)
    return template
  }

  private tensorTemplate(t: Tensor): Template | null {
    const id = this.ids.get(t)
    const index = this.given.findIndex((other) => other === t || (this.hoisted.has(other) && this.ids.get(other) === id))
    if (id === undefined || this.constants.some((c) => c.id === id)) return t.pinned && !t.isReleased ? { kind: 'value', value: t } : null
    if (!sameType(this.values.get(id)!.type, typeOf(t)) || t.isSparse) return null
    if (index >= 0) return { kind: 'input', index: this.placeOf(this.given[index]!, index) }
    const at = this.outputs.indexOf(id)
    return { kind: 'output', index: at >= 0 ? at : this.outputs.push(id) - 1 }
  }

  /** The number of a tensor that is given, where those that the prologue makes come last. */
  private placeOf(t: Tensor, index: number): number {
    if (this.hoisted.has(t)) return this.description.found.tensors.length + this.trace.made.indexOf(t)
    return index - this.given.slice(0, index).filter((other) => this.hoisted.has(other)).length
  }

  /** Lists and dicts of the start that hold something else at the end; null where one cannot be described. */
  private changes(): { container: number; to: ContainerTemplate }[] | null {
    const changes: { container: number; to: ContainerTemplate }[] = []
    for (const [i, container] of this.description.found.containers.entries()) {
      const now = this.changing.get(container) ?? container
      if (sameItems(this.containers.get(container)!, now)) continue
      const to = containerTemplate(now, (item) => this.template(item))
      if (to === null) return null
      changes.push({ container: i, to })
    }
    return changes
  }

  /** True where the recording has ended before the run has. */
  get hasEnded(): boolean {
    return this.ended !== null
  }

  /** What was recorded of a region, up to where it ended or to the result of the method; or why nothing was. */
  finishRegion(result: Value): RegionRecording | Refusal {
    if (this.ended !== null) return this.ended
    if (this.refusal !== null) return this.refusal
    this.changing.clear()
    if (!this.intact(new Set())) return refusalOf('writes to an attribute')
    const value = this.template(result)
    return (
      (value === null ? null : this.regionUpTo({ kind: 'return', value })) ??
      this.refusal ??
      refusalOf('returns an object, or sets an attribute to one')
    )
  }

  /** What was recorded of a method: all of it where that is so, else its first region. */
  finishMethod(result: Value): Recording | RegionRecording | Refusal {
    if (this.ended !== null) return this.ended
    const draws = this.nodes.some((node) => node.draws === true)
    // a recording of the whole is told by the form of its arguments, which says of none that it is the module's own
    const same =
      !draws &&
      !this.description.bindsTensors &&
      !this.trace.isUsed &&
      this.written.size + this.reads.length + this.writtenMemory.size === 0 &&
      this.unchanged()
    return same ? this.finish(result) : this.finishRegion(result)
  }

  private unchanged(): boolean {
    for (const [container, before] of this.containers) if (!sameItems(container, before)) return false
    return true
  }

  /**
   * Why views that the prologue makes cannot be told from others of their memory: by chance they lie where another one does, and will not
   * next time; or a view of one is left behind, or a whole of which one is a part is a constant of the region.
   */
  private whyNotApart(): Refusal | null {
    for (const id of this.hoisted.values()) {
      const from = new Set([id])
      for (const node of this.nodes) {
        if (!usesOf(node).some((used) => from.has(used))) continue
        for (const result of definitionsOf(node)) if (this.storageOf(result) === this.storageOf(id)) from.add(result)
      }
      if (this.constants.some((c) => this.storageOf(c.id) === this.storageOf(id)))
        return refusalOf('reads a part of a constant, and all of it')
      if (this.outputs.some((output) => output !== id && from.has(output))) return refusalOf('leaves a view of what moves')
      for (const { id: other, type, storage } of this.values.values()) {
        if (from.has(other) || storage !== this.storageOf(id)) continue
        for (const one of from)
          if (sameType(type, this.values.get(one)!.type))
            return { ...refusalOf('two views of a tensor are the same by chance'), temporary: true }
      }
    }
    return null
  }

  private storageOf(id: ValueId): number {
    return this.values.get(id)!.storage
  }

  /** Null where it leaves something behind that has no template. */
  private regionUpTo(end: RegionEnd): RegionRecording | null {
    const { description, trace } = this
    const { parts } = this.start
    if (trace.boundReads.size > 0) {
      this.start.noteDeciding(trace.boundReads)
      this.refusal = { ...refusalOf('reads a number that decides what it does'), temporary: true }
      return null
    }
    const writes: RegionRecording['writes'][number][] = []
    for (const [object, slots] of this.written) {
      for (const [slot, origin] of slots) {
        const value = parts.belongs(object) ? this.template(object.slots[slot]!) : null
        if (value === null) return null
        writes.push({ place: { object, slot }, value, origin })
      }
    }
    const changes = this.changes()
    if (changes === null) return null
    const fault = this.hoisted.size === 0 ? null : this.whyNotApart()
    if (fault !== null) {
      this.refusal = fault
      return null
    }
    const { values, constants, objects, nodes, outputs, given, guards, reads } = this
    const used = new Set<ValueId>(nodes.flatMap(usesOf))
    const picked = given.flatMap((t, i) => (used.delete(this.inputs[i]!) ? [i] : []))
    const picks = picked.map((i) => this.placeOf(given[i]!, i))
    const inConstants = description.found.tensors.map(({ storage }) => (guards.hasStorage(storage) ? storage : null))
    const graph: Graph = {
      values,
      inputs: picked.map((i) => this.inputs[i]!),
      constants,
      objects,
      nodes,
      output: { kind: 'list', items: outputs.map((id) => ({ kind: 'value', id })) },
    }
    return { graph, guards, start: description.finish(), reads, prologue: [...trace.steps], picks, inConstants, writes, changes, end }
  }
}

/** Operators that give the number that a tensor of one element holds. */
const READS = new Set(['aten::item', 'aten::_local_scalar_dense', 'aten::Int.Tensor', 'aten::IntImplicit', 'aten::ScalarImplicit'])

function writesTo({ schema }: OperatorEntry): boolean {
  return schema.arguments.some(isWritten)
}

/** The arguments that an operator may write to, as its schema says. */
function changedBy({ entry }: LinkedOperator, args: readonly Value[]): Value[] {
  return entry?.schema.arguments.flatMap((argument, i) => (isWritten(argument) ? [args[i] ?? null] : [])) ?? []
}

/** True for operators that leave nothing behind but their results, and give the same each time. */
function isOrdinary(entry: OperatorEntry): boolean {
  return !writesTo(entry) && entry.source === null && !hasFact(entry.qualifiedName, 'time_dependent')
}

function shallowCopy(container: Container): Container {
  if (container instanceof Tuple) return new Tuple([...container.items], container.fields)
  return container instanceof Map ? new Map(container) : [...container]
}

function sameItems(a: Container, b: Container): boolean {
  const [before, now] = [
    [...keysOf(a), ...itemsOf(a)],
    [...keysOf(b), ...itemsOf(b)],
  ]
  return before.length === now.length && before.every((item, i) => Object.is(item, now[i]))
}

function sameType(a: TensorType, b: TensorType): boolean {
  return a.dtype === b.dtype && sameLayout(a, b)
}
