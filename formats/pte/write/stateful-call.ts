import type { Arg, Graph, ValueId } from '../../../compiler/graph/graph.js'
import { compiler } from '../../../compiler/lazy.js'
import type { PrologueStep } from '../../../compiler/record/region-prologue.js'
import type { RegionRecording } from '../../../compiler/record/region.js'
import type { ContainerTemplate, Template } from '../../../compiler/record/template.js'
import { unsupported } from '../../../program/file-error.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import { type Container, isContainer, Tuple, type Value } from '../../../runtime/tensor/value.js'
import { GraphPrefix, Numbers } from './numbers.js'
import type { InitialState, StateSlot, StateValue } from './state.js'
import { leavesIn } from './trees.js'

/** What an input of a graph is: a tensor among the arguments, or what outlives calls. */
export type GraphInput = { readonly kind: 'argument'; readonly index: number } | { readonly kind: 'state'; readonly index: number }

/** A call as a graph whose inputs are arguments and what outlives calls, and which returns a tuple: the result, and what has become of that. */
export interface RecordedCall {
  readonly graph: Graph
  readonly inputs: readonly GraphInput[]
  readonly states: readonly StateValue[]
  /** Places in `states` of those that are returned behind the result. */
  readonly changed: readonly number[]
  /** Leaves of the result that are numbers, by their order, where the graph has tensors. */
  readonly numbers: readonly number[]
}

/** A call that changes no attribute. */
export function statelessCall(graph: Graph): RecordedCall {
  const output: Arg = { kind: 'tuple', items: [graph.output], fields: undefined }
  const inputs = graph.inputs.map((_, index) => ({ kind: 'argument', index }) as const)
  return { graph: { ...graph, output }, inputs, states: [], changed: [], numbers: [] }
}

/** A call that a region holds from its beginning to its end; the module is as before it. Throws UNSUPPORTED_FILE, saying why, where what it does to attributes has no form. */
export function statefulCall(region: RegionRecording, args: readonly Value[], initial: InitialState): RecordedCall {
  return new StatefulCall(region, args, initial).finish()
}

/** What an attribute holds when a call begins. */
type Held =
  | { readonly kind: 'state'; readonly index: number }
  /** Neither a tensor nor a number that is followed. */
  | { readonly kind: 'fixed'; readonly value: Value }
  | { readonly kind: 'container'; readonly value: Container; readonly keys: readonly unknown[]; readonly items: readonly Held[] }

interface Holder {
  readonly place: StateSlot
  readonly held: Held
}

/** A list, tuple or dict that is there before a call, and how it is made of what else is. */
interface KnownContainer {
  readonly value: Container
  readonly template: ContainerTemplate
}

class StatefulCall {
  /** In the order in which the region counts them. */
  private readonly tensors: GraphInput[] = []
  private readonly given: Tensor[] = []
  private readonly containers: KnownContainer[] = []
  /** Numbers of attributes, as places in `states`. */
  private readonly ints: number[] = []
  private readonly states: StateValue[] = []
  /** The attributes that these are in. */
  private readonly places: StateSlot[] = []
  private readonly numberStates = new Set<number>()
  private readonly holders: Holder[] = []
  private readonly prefix: GraphPrefix
  /** Inputs of the graph, by what they are. */
  private readonly inputs: { readonly id: ValueId; readonly is: GraphInput }[] = []
  private readonly numbers: Numbers
  /** By the place of a tensor of the start a view of it that the graph has: they are of one memory. */
  private readonly viewed: ReadonlyMap<number, ValueId>
  /** Tensors that the region counts. */
  private readonly count: number
  private readonly numberLeaves: number[] = []
  private leaves = 0

  constructor(
    private readonly region: RegionRecording,
    args: readonly Value[],
    private readonly initial: InitialState,
  ) {
    const { graph, reads, picks, prologue, end, inConstants, writes } = region
    if (end.kind !== 'return') throw unsupported('it cannot be recorded up to its end')
    for (const arg of args) this.argument(arg)
    for (const place of reads) this.holders.push({ place, held: this.attribute(place, '', place.object.slots[place.slot]!) })
    this.count = this.tensors.length
    if (this.count !== inConstants.length) throw unsupported('it reads attributes that share tensors with others')
    for (const { place } of writes)
      if (!this.holders.some((holder) => isPlace(holder.place, place)))
        this.holders.push({ place, held: this.attribute(place, '', place.object.slots[place.slot]!) })
    this.prefix = new GraphPrefix(graph)
    const made = new Map<number, ValueId>()
    picks.forEach((index, i) => {
      const id = graph.inputs[i]!
      if (index >= this.count) made.set(index - this.count, id)
      else this.inputs.push({ id, is: this.tensors[index]! })
    })
    this.viewed = viewedBy(prologue, made)
    const starts = this.ints.map((index) => this.inputFor({ kind: 'state', index }))
    this.numbers = new Numbers(this.prefix, starts, (index) => this.inputFor(this.tensors[index]!), made)
    this.numbers.add(prologue)
  }

  /** Counts what an argument holds, as the region does. Returns how it is made. */
  private argument(value: Value): Template {
    if (value instanceof Tensor) {
      this.tensors.push({ kind: 'argument', index: this.given.push(value) - 1 })
      return { kind: 'input', index: this.tensors.length - 1 }
    }
    if (!isContainer(value)) return { kind: 'value', value }
    return this.container(value, (item) => this.argument(item))
  }

  private container(value: Container, each: (item: Value, key: string) => Template): Template {
    const known = this.containers.findIndex((one) => one.value === value)
    if (known >= 0) return { kind: 'given', index: known }
    const index = this.containers.length
    const items: Template[] = []
    const of = value instanceof Map ? 'dict' : value instanceof Tuple ? 'tuple' : 'list'
    const keys = value instanceof Map ? [...value.keys()] : []
    const fields = value instanceof Tuple ? value.fields : undefined
    this.containers.push({ value, template: { kind: 'container', of, keys, fields, elements: undefined, items } })
    itemsOf(value).forEach((item, i) => items.push(each(item, String(keys[i] ?? i))))
    return { kind: 'given', index }
  }

  private attribute(place: StateSlot, path: string, value: Value): Held {
    if (value instanceof Tensor) {
      const index = this.state(place, path, value)
      this.tensors.push({ kind: 'state', index })
      return { kind: 'state', index }
    }
    // those in containers are the same in each call
    if (path === '' && (typeof value === 'number' || value instanceof Float)) {
      const index = this.state(place, path, value)
      this.ints.push(index)
      this.numberStates.add(index)
      return { kind: 'state', index }
    }
    if (!isContainer(value)) return { kind: 'fixed', value }
    if (this.containers.some((one) => one.value === value))
      throw unsupported(`attribute '${this.initial.nameOf(place)}' holds a list or dict that is seen elsewhere, too`)
    const held: Held[] = []
    this.container(value, (item, key) => {
      held.push(this.attribute(place, `${path}.${key}`, item))
      return this.templateOf(held.at(-1)!)
    })
    return { kind: 'container', value, keys: value instanceof Map ? [...value.keys()] : [], items: held }
  }

  private state(place: StateSlot, path: string, value: Tensor | number | Float): number {
    this.places.push(place)
    return this.states.push(this.initial.valueAt(place, path, value)) - 1
  }

  private templateOf(held: Held): Template {
    if (held.kind === 'fixed') return { kind: 'value', value: held.value }
    if (held.kind === 'container') return { kind: 'given', index: this.containers.findIndex(({ value }) => value === held.value) }
    return { kind: 'input', index: this.tensors.findIndex(({ kind, index }) => kind === 'state' && index === held.index) }
  }

  private tensorOf({ kind, index }: GraphInput): Tensor {
    return kind === 'argument' ? this.given[index]! : this.states[index]!.first
  }

  private inputFor(is: GraphInput): ValueId {
    const known = this.inputs.find((one) => one.is.kind === is.kind && one.is.index === is.index)
    if (known !== undefined) return known.id
    const place = this.tensors.findIndex(({ kind, index }) => kind === is.kind && index === is.index)
    const view = this.viewed.get(place)
    const id = this.prefix.input(this.tensorOf(is), view === undefined ? undefined : this.prefix.storageOf(view))
    this.inputs.push({ id, is })
    return id
  }

  /** What a template stands for when the call ends. */
  private argOf(template: Template): Arg {
    switch (template.kind) {
      case 'output':
        return this.region.graph.output.kind === 'list'
          ? this.region.graph.output.items[template.index]!
          : { kind: 'constant', value: null }
      case 'value':
        return template.value instanceof Tensor
          ? { kind: 'value', id: this.prefix.constant(template.value) }
          : { kind: 'constant', value: template.value }
      case 'input':
        return {
          kind: 'value',
          id: template.index < this.count ? this.inputFor(this.tensors[template.index]!) : this.numbers.madeAt(template.index - this.count),
        }
      case 'int':
      case 'computed':
        return { kind: 'value', id: this.numbers.numberOf(template) }
      case 'given':
        return this.argOf(this.endOf(this.containers[template.index]!.value))
      case 'container': {
        const items = template.items.map((item) => this.argOf(item))
        const { of, keys, fields } = template
        if (of === 'list') return { kind: 'list', items }
        return of === 'tuple' ? { kind: 'tuple', items, fields } : { kind: 'dict', entries: keys.map((key, i) => [key, items[i]!]) }
      }
    }
  }

  /** What a container of the start holds at the end. */
  private endOf(value: Container): ContainerTemplate {
    const index = this.containers.findIndex((one) => one.value === value)
    return this.region.changes.find(({ container }) => container === index)?.to ?? this.containers[index]!.template
  }

  /** Notes which leaves of the result are numbers. */
  private countLeaves(template: Template): void {
    switch (template.kind) {
      case 'int':
      case 'computed':
        this.numberLeaves.push(this.leaves++)
        break
      case 'given':
        return this.countLeaves(this.endOf(this.containers[template.index]!.value))
      case 'container':
        return template.items.forEach((item) => this.countLeaves(item))
      case 'value':
        this.leaves += leavesIn(template.value).length
        break
      default:
        this.leaves++
    }
  }

  /** Adds what has become of an attribute's tensors and numbers to `set`; `template` is what it holds at the end, null for what it held before. */
  private compare(place: StateSlot, held: Held, template: Template | null, set: Map<number, Arg>): void {
    const refuse = (what: string): never => {
      throw unsupported(`attribute '${this.initial.nameOf(place)}' ${what}`)
    }
    if (held.kind === 'fixed') {
      const isSame = template === null || (template.kind === 'value' && isSamePlain(template.value, held.value))
      if (!isSame) refuse('changes and is no tensor or number')
    } else if (held.kind === 'container') {
      const isKept = template === null || (template.kind === 'given' && this.containers[template.index]!.value === held.value)
      if (template !== null && !isKept && template.kind !== 'container') refuse('becomes a list or dict that is seen elsewhere, too')
      const to = template?.kind === 'container' ? template : this.endOf(held.value)
      const own = this.containers.find(({ value }) => value === held.value)!.template
      const isAlike = to.of === own.of && to.items.length === held.items.length && to.keys.every((key, i) => key === held.keys[i])
      if (!isAlike) refuse('becomes a list or dict of another length or other keys')
      held.items.forEach((item, i) => this.compare(place, item, to.items[i]!, set))
    } else if (template !== null) {
      const { index } = held
      if (this.numberStates.has(index)) {
        if (template.kind === 'int' && this.ints[template.index] === index) return
        const isNumber = template.kind === 'int' || template.kind === 'computed'
        if (isNumber) return void set.set(index, { kind: 'value', id: this.numbers.numberOf(template) })
        const value =
          template.kind === 'value' && (typeof template.value === 'number' || template.value instanceof Float) ? template.value : null
        if (value === null) return refuse('becomes something else than a number')
        const id = this.numbers.constant(
          value,
          this.inputFor({ kind: 'state', index }),
          value instanceof Float ? DType.float64 : DType.int64,
        )
        set.set(index, { kind: 'value', id })
        return
      }
      const own = template.kind === 'input' ? this.tensors[template.index] : undefined
      if (own?.kind === 'state' && own.index === index) return
      const arg = this.argOf(template)
      if (arg.kind !== 'value') refuse('becomes something else than a tensor')
      set.set(index, arg)
    }
  }

  finish(): RecordedCall {
    const { region, initial, prefix, states, inputs } = this
    const { writes, changes, end } = region
    const reached = new Set(this.holders.flatMap(({ held }) => containersIn(held)))
    for (const { container } of changes)
      if (!reached.has(this.containers[container]!.value)) throw unsupported('it changes a list or dict of its arguments')
    const set = new Map<number, Arg>()
    for (const { place, held } of this.holders)
      this.compare(place, held, writes.find((one) => isPlace(one.place, place))?.value ?? null, set)
    for (const index of set.keys()) this.inputFor({ kind: 'state', index })
    const value = (end as Extract<typeof end, { kind: 'return' }>).value
    this.countLeaves(value)
    const result = this.argOf(value)
    const output: Arg = { kind: 'tuple', items: [result, ...set.values()], fields: undefined }
    const graph = prefix.finish(
      inputs.map(({ id }) => id),
      output,
    )
    const tensorStates = inputs.filter(({ is }) => is.kind === 'state' && !this.numberStates.has(is.index))
    const found = compiler().stateValues(
      graph,
      tensorStates.map(({ id }) => id),
    )
    if (typeof found === 'string') throw unsupported(found)
    const { items } = found.graph.output as Extract<Arg, { kind: 'tuple' }>
    const changed = [...set.keys()].map((index, i) => ({ index, arg: items[i + 1]! }))
    const inPlace = tensorStates.filter(({ id }) => found.last.get(id) !== id)
    refuseShared(graph, set, inputs, new Set(inPlace.map(({ is }) => is.index)))
    for (const { id, is } of inPlace)
      if (!set.has(is.index)) changed.push({ index: is.index, arg: { kind: 'value', id: found.last.get(id)! } })
    for (const { index, arg } of changed) checkForm(found.graph, arg, states[index]!)
    initial.noteChanging(changed.map(({ index }) => this.places[index]!))
    return {
      graph: { ...found.graph, output: { kind: 'tuple', items: [items[0]!, ...changed.map(({ arg }) => arg)], fields: undefined } },
      inputs: inputs.map(({ is }) => is),
      states,
      changed: changed.map(({ index }) => index),
      numbers: this.numberLeaves,
    }
  }
}

function viewedBy(prologue: readonly PrologueStep[], made: ReadonlyMap<number, ValueId>): Map<number, ValueId> {
  const roots: number[] = []
  const views = new Map<number, ValueId>()
  for (const { gives, args } of prologue) {
    if (gives.kind !== 'tensor') continue
    const [from] = args
    const root = from?.kind === 'tensor' ? from.index : from?.kind === 'made' ? roots[from.index]! : -1
    const id = made.get(roots.push(root) - 1)
    if (root >= 0 && id !== undefined) views.set(root, id)
  }
  return views
}

function isPlace(a: StateSlot, b: StateSlot): boolean {
  return a.object === b.object && a.slot === b.slot
}

function itemsOf(value: Container): readonly Value[] {
  return value instanceof Map ? [...value.values()] : value instanceof Tuple ? value.items : value
}

function containersIn(held: Held): Container[] {
  return held.kind === 'container' ? [held.value, ...held.items.flatMap(containersIn)] : []
}

function isSamePlain(a: Value, b: Value): boolean {
  return a instanceof Float && b instanceof Float ? Object.is(a.value, b.value) : Object.is(a, b)
}

/** Attributes that have come to hold one tensor, or a constant, would be several buffers: what is written to one of them in place would be missing in the others. */
function refuseShared(
  { values, constants }: Graph,
  set: ReadonlyMap<number, Arg>,
  inputs: readonly { readonly id: ValueId; readonly is: GraphInput }[],
  inPlace: ReadonlySet<number>,
): void {
  const storageOf = (id: ValueId): number => values.get(id)!.storage
  const held = inputs.flatMap(({ id, is }) => (is.kind === 'state' ? [{ storage: storageOf(id), state: is.index }] : []))
  const fixed = constants.map(({ id }) => ({ storage: storageOf(id), state: -1 }))
  const become = [...set].flatMap(([state, arg]) => (arg.kind === 'value' ? [{ storage: storageOf(arg.id), state }] : []))
  for (const { storage, state } of become) {
    const shares = [...held, ...fixed, ...become].filter((other) => other.storage === storage && other.state !== state)
    if (shares.some((other) => inPlace.has(state) || inPlace.has(other.state)))
      throw unsupported('attributes that come to share memory are written to in place')
  }
}

function checkForm({ values }: Graph, arg: Arg, { name, first }: StateValue): void {
  const type = arg.kind === 'value' ? values.get(arg.id)?.type : undefined
  if (type === undefined || type.dtype !== first.type || !sameShape(type.shape, first.shape))
    throw unsupported(`attribute '${name}' becomes something else than a tensor of its dtype and shape`)
}
