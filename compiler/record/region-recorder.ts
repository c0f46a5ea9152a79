import type { Frame } from '../../runtime/interpreter/activation.js'
import { reachable } from '../../runtime/interpreter/lifetime.js'
import type { LinkedFunction, LinkedOperator, Program } from '../../runtime/interpreter/program.js'
import { sameShape } from '../../runtime/tensor/shape.js'
import type { Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { type Graph, type Origin, type TensorType, usesOf, type ValueId } from '../graph/graph.js'
import type { ModuleParts, Place } from './module-parts.js'
import {
  collectContainers,
  GraphRecorder,
  originOf,
  type Recording,
  type Refusal,
  refusalOf,
  type StoppedCall,
  typeOf,
} from './recorder.js'
import type { RegionEnd, RegionRecording, Stand } from './region.js'
import { type Container, isContainer, itemsOf, keysOf, StateDescription } from './state-signature.js'
import { containerTemplate, type ContainerTemplate, type Template } from './template.js'

/** Where the recording of a region begins, and when the run is left once it has ended. */
export interface RegionStart {
  readonly parts: ModuleParts
  /** Functions that are being run, outermost first. */
  readonly frames: readonly Frame[]
  /** Values of the state: registers and stack. */
  readonly values: readonly Value[]
  /** True where another region may begin. */
  leavesBefore(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean
}

/** Records from a state of a run up to what cannot be recorded. Null where the state has no signature. */
export function regionRecorderOf(program: Program, root: ScriptObject, start: RegionStart): RegionRecorder | null {
  const description = new StateDescription((value) => start.parts.belongs(value))
  if (!start.values.every((value) => description.add(value))) return null
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
  private ended: RegionRecording | null = null
  private outer: Set<Value> | null = null
  private readonly templates = new Map<Container, Template | null>()
  private readonly outputs: ValueId[] = []

  constructor(
    program: Program,
    root: ScriptObject,
    private readonly start: RegionStart,
    private readonly description: StateDescription,
  ) {
    super(program, root, start.values, [...description.found.tensors])
    this.calls = start.frames.slice(0, -1).map(({ fn, pc }) => ({ fn, pc }))
    this.noteContainers()
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
    if (this.start.parts.isState(object, slot)) this.stateRead(object, slot)
    else super.attributeRead(object, slot)
  }

  override attributeWritten(object: ScriptObject, slot: number, fn: LinkedFunction, pc: number): void {
    if (this.local.has(object) || this.ended !== null) return
    const origin = originOf(fn, pc)
    // what was read as something that stays the same has to be recorded as state
    if (this.start.parts.addState(object, slot) && this.guards.hasAttribute(object, slot))
      this.stop(`prim::SetAttr sets attribute '${object.names[slot] ?? slot}'`, origin, true)
    this.outer = null
    let slots = this.written.get(object)
    if (slots === undefined) this.written.set(object, (slots = new Map<number, Origin>()))
    slots.set(slot, origin)
  }

  /** An attribute that is state is one more argument. */
  private stateRead(object: ScriptObject, slot: number): void {
    if (this.reads.some((place) => place.object === object && place.slot === slot)) return
    const { description } = this
    const { tensors } = description.found
    const before = tensors.length
    const value = object.slots[slot]!
    if (!description.add(value)) return this.stop(`reads attribute '${object.names[slot] ?? slot}', which is state`, null)
    this.reads.push({ object, slot })
    for (const t of tensors.slice(before)) {
      const known = this.ids.get(t)
      if (known !== undefined && !this.given.includes(t)) return this.stop('state is also read in another way', null, true)
      this.given.push(t)
      this.inputStorages.set(t.storage, t.storage.version)
      this.variable.add(t.storage)
      this.inputs.push(known ?? this.define(t))
    }
    this.noteContainers()
  }

  /** Remembers what containers of the start hold. */
  private noteContainers(): void {
    for (const container of this.description.found.containers)
      if (!this.containers.has(container)) this.containers.set(container, shallowCopy(container))
  }

  protected override isOuter(container: Value): boolean {
    // all that the region is given may change, and is described at its end
    if (this.description.found.containers.includes(container as Container)) return false
    if (this.outer === null) {
      this.outer = new Set()
      collectContainers([this.root, ...this.program.functions.flatMap((fn) => fn.source.constants)], this.outer)
    }
    return this.outer.has(container)
  }

  protected override noteWritten(written: readonly Tensor[]): void {
    for (const { storage } of written) if (this.inputStorages.has(storage)) this.writtenMemory.add(storage)
  }

  /** Lists and dicts that an operator may change are remembered as they are before. */
  protected override before({ entry }: LinkedOperator, args: readonly Value[]): void {
    this.changing.clear()
    entry?.schema.arguments.forEach(({ alias }, i) => {
      const arg = args[i]
      if (alias?.includes('!') === true && arg !== undefined && isContainer(arg)) this.changing.set(arg, shallowCopy(arg))
    })
  }

  /** The region ends before this call of an operator, unless something is alive that cannot be described. */
  protected override stoppedAt({ fn, pc, called, args, stack, registers }: StoppedCall, { reason, origin, temporary }: Refusal): void {
    if (temporary) return
    const changed: Value[] = []
    called.entry?.schema.arguments.forEach(({ alias }, i) => {
      if (alias?.includes('!') === true) changed.push(args[i] ?? null)
    })
    const touched = new Set([...reachable(changed)].map((t) => t.storage))
    for (const storage of touched) this.start.parts.addStateIn(storage)
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

  /** How a later run makes a value of this one. Null where it cannot. */
  private template(value: Value): Template | null {
    if (typeof value !== 'object' || value === null) return { kind: 'value', value }
    if (value instanceof Tensor) return this.tensorTemplate(value)
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
    const template = containerTemplate(this.changing.get(value) ?? value, (item) => this.template(item))
    this.templates.set(value, template)
    return template
  }

  private tensorTemplate(t: Tensor): Template | null {
    const index = this.given.indexOf(t)
    const id = this.ids.get(t)
    if (id === undefined || this.constants.some((c) => c.id === id)) return t.pinned && !t.isReleased ? { kind: 'value', value: t } : null
    if (!sameType(this.values.get(id)!.type, typeOf(t)) || t.constructor !== Tensor) return null
    if (index >= 0) return { kind: 'input', index }
    const at = this.outputs.indexOf(id)
    return { kind: 'output', index: at >= 0 ? at : this.outputs.push(id) - 1 }
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
      (value === null ? null : this.regionUpTo({ kind: 'return', value })) ?? refusalOf('returns an object, or sets an attribute to one')
    )
  }

  /** What was recorded of a method: all of it where that is so, else its first region. */
  finishMethod(result: Value): Recording | RegionRecording | Refusal {
    if (this.ended !== null) return this.ended
    const draws = this.nodes.some((node) => node.draws === true)
    const same = !draws && this.written.size + this.reads.length + this.writtenMemory.size === 0 && this.unchanged()
    return same ? this.finish(result) : this.finishRegion(result)
  }

  private unchanged(): boolean {
    for (const [container, before] of this.containers) if (!sameItems(container, before)) return false
    return true
  }

  /** Null where it leaves something behind that has no template. */
  private regionUpTo(end: RegionEnd): RegionRecording | null {
    const { description } = this
    const { parts } = this.start
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
    const { values, constants, objects, nodes, outputs, given, guards, reads } = this
    const used = new Set<ValueId>(nodes.flatMap(usesOf))
    const picks = given.flatMap((t, i) => (used.delete(this.inputs[i]!) ? [i] : []))
    const graph: Graph = {
      values,
      inputs: picks.map((i) => this.inputs[i]!),
      constants,
      objects,
      nodes,
      output: { kind: 'list', items: outputs.map((id) => ({ kind: 'value', id })) },
    }
    return { graph, guards, start: description.finish(), reads, picks, writes, changes, end }
  }
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
  return a.dtype === b.dtype && a.offset === b.offset && sameShape(a.shape, b.shape) && sameShape(a.strides, b.strides)
}
