import type { Arg, Graph, ValueId } from '../../../compiler/graph/graph.js'
import { compiler } from '../../../compiler/lazy.js'
import type { RegionRecording } from '../../../compiler/record/region.js'
import type { Template } from '../../../compiler/record/template.js'
import { unsupported } from '../../../program/file-error.js'
import { elementsOf, reachable } from '../../../program/reach.js'
import { sameShape } from '../../../runtime/tensor/shape.js'
import type { Storage } from '../../../runtime/tensor/storage.js'
import { Tensor } from '../../../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../../../runtime/tensor/value.js'
import { bytesOf } from '../../writing/program-writer.js'

/** An attribute that calls change. */
export interface StateSlot {
  readonly object: ScriptObject
  readonly slot: number
}

/** What an input of a graph is: a tensor among the arguments, or an attribute. */
export type GraphInput = { readonly kind: 'argument'; readonly index: number } | { readonly kind: 'state'; readonly index: number }

/** A call as a graph whose inputs are arguments and attributes, and which returns a tuple: the result, and what attributes have become. */
export interface RecordedCall {
  readonly graph: Graph
  readonly inputs: readonly GraphInput[]
  readonly states: readonly StateSlot[]
  /** Places in `states` of those that are returned behind the result. */
  readonly changed: readonly number[]
}

/** A call that changes no attribute. */
export function statelessCall(graph: Graph): RecordedCall {
  const output: Arg = { kind: 'tuple', items: [graph.output], fields: undefined }
  return { graph: { ...graph, output }, inputs: graph.inputs.map((_, index) => ({ kind: 'argument', index })), states: [], changed: [] }
}

/** A call that a region holds from its beginning to its end; the module is as before it. Throws UNSUPPORTED_FILE, saying why, where what it does to attributes has no form. */
export function statefulCall(region: RegionRecording, args: readonly Tensor[]): RecordedCall {
  const { reads, picks, writes, changes, prologue, end } = region
  let { graph } = region
  if (end.kind !== 'return' || changes.length > 0 || prologue.length > 0)
    throw unsupported('it changes lists, dicts or numbers that outlive a call')
  const states = reads.map(({ object, slot }): StateSlot => ({ object, slot }))
  for (const { object, slot } of states)
    if (!(object.slots[slot] instanceof Tensor)) throw unsupported(`attribute '${object.names[slot]!}' changes and is no tensor`)
  const inputOf = (index: number): GraphInput => {
    const own = index - args.length
    if (own < 0) return { kind: 'argument', index }
    if (own >= states.length) throw unsupported('it views its attributes at places that are computed')
    return { kind: 'state', index: own }
  }
  const inputs = picks.map(inputOf)
  const tensorOf = ({ kind, index }: GraphInput): Tensor =>
    kind === 'argument' ? args[index]! : (states[index]!.object.slots[states[index]!.slot] as Tensor)
  // one with which nothing is computed is an input when it is returned or kept
  const idOf = (index: number): ValueId => {
    const input = inputOf(index)
    const known = inputs.findIndex((one) => one.kind === input.kind && one.index === input.index)
    if (known >= 0) return graph.inputs[known]!
    inputs.push(input)
    graph = withInput(graph, tensorOf(input))
    return graph.inputs.at(-1)!
  }
  const outputs = graph.output.kind === 'list' ? graph.output.items : []
  const argOf = (template: Template): Arg => {
    switch (template.kind) {
      case 'output':
        return outputs[template.index]!
      case 'value':
        return { kind: 'constant', value: template.value }
      case 'input':
        return { kind: 'value', id: idOf(template.index) }
      case 'container':
        return containerOf(template, argOf)
      default:
        throw unsupported('it returns or keeps a list, a dict or a number that outlives a call')
    }
  }
  const isPlace = (a: StateSlot, b: StateSlot): boolean => a.object === b.object && a.slot === b.slot
  const set = states.flatMap((state, index) => {
    const write = writes.find(({ place }) => isPlace(place, state))
    return write === undefined ? [] : [{ index, arg: argOf(write.value) }]
  })
  const result = argOf(end.value)
  const stateInputs = inputs.flatMap((input, i) => (input.kind === 'state' ? [graph.inputs[i]!] : []))
  const output: Arg = { kind: 'tuple', items: [result, ...set.map(({ arg }) => arg)], fields: undefined }
  const found = compiler().stateValues({ ...graph, output }, stateInputs)
  if (typeof found === 'string') throw unsupported(found)
  const written = inputs.flatMap((input, i) => {
    const id = graph.inputs[i]!
    const last = found.last.get(id)
    if (input.kind !== 'state' || last === id || last === undefined || set.some(({ index }) => index === input.index)) return []
    return [{ index: input.index, arg: { kind: 'value', id: last } as const }]
  })
  const { items } = found.graph.output as Extract<Arg, { kind: 'tuple' }>
  const changed = [...set.map(({ index }, i) => ({ index, arg: items[i + 1]! })), ...written]
  for (const { index, arg } of changed) checkForm(found.graph, arg, states[index]!)
  return {
    graph: { ...found.graph, output: { kind: 'tuple', items: [items[0]!, ...changed.map(({ arg }) => arg)], fields: undefined } },
    inputs,
    states,
    changed: changed.map(({ index }) => index),
  }
}

function withInput(graph: Graph, { type: dtype, shape, strides, offset, quant }: Tensor): Graph {
  const used = [...graph.values.values()]
  const id = 1 + Math.max(-1, ...used.map((value) => value.id))
  const storage = 1 + Math.max(-1, ...used.map((value) => value.storage))
  return {
    ...graph,
    values: new Map([...graph.values, [id, { id, storage, type: { dtype, shape, strides, offset, quant } }]]),
    inputs: [...graph.inputs, id],
  }
}

function containerOf({ of, keys, items, fields }: Extract<Template, { kind: 'container' }>, argOf: (template: Template) => Arg): Arg {
  const args = items.map(argOf)
  if (of === 'list') return { kind: 'list', items: args }
  return of === 'tuple' ? { kind: 'tuple', items: args, fields } : { kind: 'dict', entries: keys.map((key, i) => [key, args[i]!]) }
}

function checkForm({ values }: Graph, arg: Arg, { object, slot }: StateSlot): void {
  const id: ValueId | undefined = arg.kind === 'value' ? arg.id : undefined
  const type = id === undefined ? undefined : values.get(id)?.type
  const before = object.slots[slot] as Tensor
  if (type === undefined || type.dtype !== before.type || !sameShape(type.shape, before.shape))
    throw unsupported(`attribute '${object.names[slot]!}' becomes something else than a tensor of its dtype and shape`)
}

/** What a module holds, to be put back after calls that change it. */
export class InitialState {
  private readonly slots = new Map<ScriptObject, readonly Value[]>()
  private readonly memory = new Map<Storage, Uint8Array>()

  constructor(root: ScriptObject) {
    const seen = new Set<object>()
    const pending: Value[] = [root]
    while (pending.length > 0) {
      const value = pending.pop()!
      if (typeof value !== 'object' || value === null || value instanceof Tensor || seen.has(value)) continue
      seen.add(value)
      if (value instanceof ScriptObject) this.slots.set(value, [...value.slots])
      pending.push(...(elementsOf(value) ?? []))
    }
    for (const { storage } of reachable([root])) if (!this.memory.has(storage)) this.memory.set(storage, bytesOf(storage))
  }

  restore(): void {
    for (const [object, values] of this.slots) values.forEach((value, i) => (object.slots[i] = value))
    for (const [storage, bytes] of this.memory) if (storage.version > 0 && storage.live) storage.write(bytes)
  }
}
