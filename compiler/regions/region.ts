import type { Activation, Frame } from '../../interpreter/activation.js'
import { setAttribute } from '../../interpreter/instructions.js'
import type { Limits } from '../../runtime/limits.js'
import { type Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CompiledCall } from '../compiled-call.js'
import type { RegionRecording } from '../record/region.js'
import { releaseMade, runPrologue } from '../record/region-prologue.js'
import { type StateParts, tensorAt } from '../record/state-signature.js'
import { Maker } from '../record/template.js'

/** The form of a state that a region begins with: what differs in `values`, and in the attributes that it reads. Null for other states. */
export function matchStart({ start, reads, prologue, guards, inConstants }: RegionRecording, values: readonly Value[]): StateParts | null {
  const read = reads.length === 0 ? values : [...values, ...reads.map(({ object, slot }) => object.slots[slot] ?? null)]
  const parts = start.match(read)
  if (parts === null) return null
  // plans tell inputs from constants by where they lie, and would write to constants that lie where inputs do
  for (let i = 0; i < inConstants.length; i++) {
    const { storage } = parts.tensors[i]!
    if ((guards.hasStorage(storage) ? storage : null) !== inConstants[i]) return null
  }
  return prologue.length === 0 || runPrologue(prologue, parts) ? parts : null
}

/** True where a state fits. */
export function fitsStart(region: RegionRecording, values: readonly Value[]): boolean {
  const parts = matchStart(region, values)
  if (parts !== null) releaseMade(parts)
  return parts !== null
}

/** The tensors of a start that the region's graph takes. */
export function inputsOf({ picks }: RegionRecording, parts: StateParts): Tensor[] {
  return picks.map((i) => tensorAt(parts, i))
}

/** True for a region that is a whole method and leaves nothing behind but its result. */
export function isWhole({ end, writes, changes, prologue }: RegionRecording): boolean {
  return end.kind === 'return' && writes.length === 0 && changes.length === 0 && prologue.length === 0
}

/** Runs such a region. */
export function runWhole(region: RegionRecording, call: CompiledCall, parts: StateParts): Value {
  if (region.end.kind !== 'return') throw new TypeError('the region does not return')
  return new Maker(parts, call.run(inputsOf(region, parts)) as Tensor[]).make(region.end.value)
}

/** Starts such a run on another native thread; null for a region that is none, and for another state than it begins with. */
export function startWhole(
  region: RegionRecording,
  call: CompiledCall,
  values: readonly Value[],
  signal?: AbortSignal,
  limits?: Limits,
): Promise<Value> | null {
  const { end } = region
  if (end.kind !== 'return' || !isWhole(region)) return null
  const parts = matchStart(region, values)
  if (parts === null) return null
  const outputs = call.runAsync(inputsOf(region, parts), signal, limits)
  return outputs === null ? null : outputs.then((made) => new Maker(parts, made as Tensor[]).make(end.value))
}

/** How a region has ended. */
export type Advance = { readonly returned: true; readonly value: Value } | { readonly returned: false }

/** Brings a run from the start of a region to its end, for which its graph has returned `outputs`. */
export function advance(
  { writes, changes, end }: RegionRecording,
  act: Activation,
  parts: StateParts,
  outputs: readonly Tensor[],
): Advance {
  const { program, lifetimes } = act.run
  const maker = new Maker(parts, outputs)
  const values = writes.map(({ value }) => maker.make(value))
  for (const { container, to } of changes) {
    maker.change(container, to)
    lifetimes.pin(parts.containers[container]!)
  }
  for (const [i, { place }] of writes.entries()) {
    lifetimes.pin(values[i]!)
    setAttribute(program, place.object, place.slot, values[i]!)
  }
  if (end.kind === 'return') return { returned: true, value: act.finishWith(maker.make(end.value)) }
  const frames = end.stands.map(({ fn, pc, registers: held }): Frame => {
    const registers = new Array<Value>(fn.source.registerSize + 1).fill(null)
    for (const [number, template] of held) registers[number] = maker.make(template)
    return { fn, pc, registers }
  })
  act.move(
    frames,
    end.stack.map((template) => maker.make(template)),
  )
  return { returned: false }
}
