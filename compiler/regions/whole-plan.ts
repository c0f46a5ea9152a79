import type { ScriptModule } from '../../interpreter/script-module.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { setListType, Tuple, type Value } from '../../runtime/tensor/value.js'
import { reachable } from '../../program/reach.js'
import type { CapturedRun, Target } from '../capture/captured.js'
import type { TensorTemplate } from '../capture/result.js'
import type { MadePlan } from '../delivery.js'
import type { EntryState } from '../entry.js'
import { isPlain } from '../record/guards.js'
import type { Place } from '../record/module-parts.js'
import type { RegionRecording } from '../record/region.js'
import type { ContainerTemplate, Template } from '../record/template.js'
import { Signature } from '../record/signature.js'
import type { StateParts } from '../record/state-signature.js'
import { isWhole, matchStart } from './region.js'

/** The plan of a method that reads or writes state of its module: its inputs are the tensors of the arguments, in order, and then those of `state`. */
export interface WholePlan {
  readonly captured: CapturedRun
  readonly state: readonly Place[]
  /** Inputs whose contents are put back where a run fails. */
  readonly kept: readonly number[]
}

/** As `wholePlan`, of what is known of calls of a method with these arguments. */
export function wholeOf(script: ScriptModule, state: EntryState | null, args: readonly Value[]): MadePlan | string {
  if (state?.kind !== 'region' || state.call === null || !isWhole(state.region)) return 'it is compiled in regions'
  const { call, region } = state
  if (call.plan === null) return call.reason ?? 'it is compiled in regions'
  const parts = matchStart(region, [script.root, ...args])
  const given = Signature.of(args)?.match(args) ?? null
  if (parts === null || given === null) return 'its state has another form'
  const whole = wholePlan(region, call.plan.captured, call.kept, parts, given)
  if (typeof whole === 'string') return whole
  const { captured, state: places, kept } = whole
  return { call, plan: { captured, placement: call.plan.placement }, guards: region.guards, state: places, kept }
}

/** What a plan can say of a result in no file. */
class Unsaid extends Error {}

/**
 * The plan of a region that is a whole method, whose graph was captured as `captured`, for `parts` that match it: the tensors of arguments, and those of state. A text says
 * why it cannot be told apart from its module.
 */
export function wholePlan(
  region: RegionRecording,
  captured: CapturedRun,
  kept: readonly number[],
  { tensors }: StateParts,
  given: readonly Tensor[],
): WholePlan | string {
  const { reads, picks, inConstants, guards, end } = region
  if (end.kind !== 'return') return 'it is compiled in regions'
  if (captured.frames.some(({ layout }) => layout.random)) return 'it draws random numbers, which the thread has a generator for'
  const held = tensors.slice(given.length)
  if (given.some((t, i) => tensors[i] !== t)) return 'an argument is a tensor of the module, or in a list that is given twice'
  if (held.length !== reads.length || reads.some(({ object, slot }, i) => object.slots[slot] !== held[i]))
    return 'it reads state that is no tensor'
  if (inConstants.some((storage) => storage !== null) || held.some(({ storage }) => guards.hasStorage(storage)))
    return 'it reads memory that calls change by another name, too'
  if (held.some((t) => held.some((other) => other !== t && other.storage === t.storage))) return 'it reads one memory by several names'
  if (given.some(({ storage }) => held.some((t) => t.storage === storage))) return 'an argument lies in memory of the module'
  const moved = ({ kind, index }: Target): Target => ({ kind, index: kind === 'input' ? picks[index]! : index })
  const result = new Map<Tensor, TensorTemplate>()
  const outputs = captured.result.value as readonly Tensor[]
  const made = new Map<ContainerTemplate, Value>()
  const valueOf = (template: Template): Value => {
    switch (template.kind) {
      case 'value':
        if (!isPlain(template.value) || reachable([template.value]).size > 0) throw new Unsaid('it returns a tensor that the module holds')
        return template.value
      case 'output': {
        const mark = outputs[template.index]!
        const known = captured.result.tensors.get(mark)!
        result.set(mark, { ...known, target: moved(known.target) })
        return mark
      }
      case 'input': {
        const t = tensors[template.index]!
        const { shape, strides, type, quant } = t
        result.set(t, { target: { kind: 'input', index: template.index }, offset: 0, shape, strides, type, quant, same: t })
        return t
      }
      case 'container': {
        let value = made.get(template)
        if (value === undefined) made.set(template, (value = containerOf(template, valueOf)))
        return value
      }
      default:
        throw new Unsaid('it returns an argument that is a list, or a number that is computed')
    }
  }
  try {
    const value = valueOf(end.value)
    return {
      captured: {
        ...captured,
        frames: captured.frames.map((frame) => ({ ...frame, pointers: frame.pointers.map((p) => ({ ...p, target: moved(p.target) })) })),
        aliases: tensors.map(({ storage }) => tensors.findIndex((t) => t.storage === storage)),
        written: captured.written.map((i) => picks[i]!),
        result: { value, tensors: result },
      },
      state: reads,
      kept: kept.map((i) => picks[i]!),
    }
  } catch (error) {
    if (error instanceof Unsaid) return error.message
    throw error
  }
}

function containerOf({ of, keys, fields, items, elements }: ContainerTemplate, valueOf: (template: Template) => Value): Value {
  const values = items.map(valueOf)
  if (of === 'tuple') return new Tuple(values, fields)
  if (of === 'dict') return new Map(keys.map((key, i) => [key, values[i]!]))
  if (elements !== undefined) setListType(values, elements)
  return values
}
