import { compiler, type PlanInfo, type SharedConstants, type TieredModule } from '../compiler/index.js'
import type { CapturedRun, Target } from '../compiler/capture/captured.js'
import { checkFrame } from '../compiler/frames/check-frame.js'
import type { BufferAssignment } from '../compiler/executor/buffer-assignment.js'
import type { Place } from '../compiler/record/module-parts.js'
import { Signature } from '../compiler/record/signature.js'
import { wholeOf } from '../compiler/regions/whole-plan.js'
import type { AheadMethod, AheadModule, AheadPlan, AheadTraining, UnplannedCall } from '../formats/ptlc/module.js'
import { tensorsOf, whyNoMethod, whyNoPlan } from '../formats/ptlc/writable.js'
import type { LinkedFunction } from '../program/linked.js'
import type { MissingOperator } from '../program/missing.js'
import { reachable } from '../program/reach.js'
import { PtliteError } from '../runtime/error.js'
import { itemSize } from '../runtime/tensor/dtype.js'
import { extentOf } from '../runtime/tensor/shape.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { States } from './ahead-states.js'
import { parametersOf } from './interpreting-engine.js'
import { sameState } from './module-state.js'
import { placeAt, type StatePath } from './state-places.js'

/** A call that a plan is made for. */
export interface PlannedCall {
  readonly method: string
  /** Fitted to the method's signature. */
  readonly args: readonly Value[]
  /** See `CallSettings`. */
  readonly lastRow?: boolean
}

/** What calls were found to do to their module. */
export interface Changes {
  /** Those that there is no plan of, as they change more than tensors, and why. */
  readonly calls: ReadonlyMap<number, string>
  /** Attributes whose tensors others write to. */
  readonly state: readonly StatePath[]
}

/** What a `.ptlc` file holds of calls. */
export type AheadPlans = Pick<AheadModule, 'methods' | 'plans' | 'states' | 'unplanned' | 'training' | 'missing'> & {
  readonly changes: Changes
}

/** What calls are made of, and what of the module goes into a file. */
export interface AheadHost {
  readonly root: ScriptObject
  readonly missing: readonly MissingOperator[]
  readonly training: AheadTraining
  functionOf(method: string, lastRow: boolean): LinkedFunction
  /** What calls can change, but for what is in the memory of `free`. */
  moduleState(free: ReadonlySet<Storage>): unknown[]
  /** Plans of one call: more would be more than are kept. They end with the module. */
  tiersOf(constants: SharedConstants): TieredModule
}

/**
 * Plans for calls with arguments of these forms, which it makes, and the methods that they are of: what a `.ptlc` file holds; with the
 * calls that there can be no plan for in such a file, and why. The plans end with the module. Throws INVALID_ARGUMENT where there is no
 * plan for any of the calls or for parts of them, and what a call throws.
 *
 * Plans of a file are for the module as its own file has it, but for tensors that calls write to, which are inputs of plans. What calls change is noted (`changes`): where
 * there is any that is not `known`, the plans are those of another module, and are to be made again with one that was just loaded. Calls that change more than
 * tensors are not carried out then.
 */
export function planAhead(host: AheadHost, calls: readonly PlannedCall[], known: Changes = { calls: new Map(), state: [] }): AheadPlans {
  const { root, missing, training } = host
  const methods = new Map<string, AheadMethod>()
  const constants = compiler().newSharedConstants()
  const made: AheadPlan[] = []
  const unplanned: UnplannedCall[] = []
  const changing = new Map(known.calls)
  const places = known.state.flatMap(({ slots }) => placeAt(root, slots) ?? [])
  const states = new States(root, places)
  let divided = known.calls.size > 0
  for (const [i, { method, args: example, lastRow = false }] of calls.entries()) {
    const fn = host.functionOf(method, lastRow)
    // before the call, which may change lists
    const signature = Signature.of(example)?.toString() ?? 'objects'
    const parameters = parametersOf(fn)
    const refusal = whyNoMethod(parameters)
    if (refusal === null) methods.set(method, { name: method, arguments: parameters })
    const reason = known.calls.get(i)
    if (reason !== undefined) {
      unplanned.push({ method, signature, reason })
      continue
    }
    const tiers = host.tiersOf(constants)
    for (const storage of states.known) tiers.parts.addStateIn(storage)
    const before = host.moduleState(states.memory)
    let found
    try {
      found = findPlan(tiers, fn, example)
    } catch (error) {
      // it may be for a call before it, which is not carried out
      if (known.calls.size === 0 || !(error instanceof PtliteError)) throw error
      changing.set(i, error.message)
      unplanned.push({ method, signature, reason: error.message })
      states.putBack()
      continue
    }
    // what is found later is known in the next round
    const isKnown = !('captured' in found) || !states.add(found.state)
    const fault = 'captured' in found ? (refusal ?? whyNotInFile(root, found, example, states)) : found.reason
    if ('captured' in found && fault === null) {
      const { captured, placement, kept, operators } = found
      const state = found.state.map((place) => states.numberOf(place))
      made.push({ method, example, lastRow: fn !== host.functionOf(method, false), captured, placement, state, kept, operators })
    } else {
      unplanned.push({ method, signature, reason: fault! })
      divided ||= found.inRegions
    }
    // what a call changes that is not known yet is looked at in the next round
    if (isKnown && !sameState(host.moduleState(states.memory), before)) changing.set(i, fault ?? 'it changes the module')
    states.putBack()
  }
  if (made.length === 0 && unplanned.length > 0 && !divided) {
    const reasons = unplanned.map(({ method, signature, reason }) => `${method}(${signature}) cannot be compiled to a plan: ${reason}`)
    throw new PtliteError('INVALID_ARGUMENT', reasons.join('\n'))
  }
  const changes = { calls: changing, state: states.paths() }
  return { methods: [...methods.values()], plans: made, states: states.held(), unplanned, training, missing, changes }
}

/** Whether plans were made with all in mind that their calls change. */
export function areKnown({ calls, state }: Changes, known: Changes): boolean {
  const placesOf = (paths: readonly StatePath[]): string => paths.map(({ slots }) => slots.join()).join(' ')
  return calls.size === known.calls.size && placesOf(state) === placesOf(known.state)
}

interface Found {
  readonly captured: CapturedRun
  readonly placement: BufferAssignment
  readonly state: readonly Place[]
  readonly kept: readonly number[]
  readonly operators: PlanInfo['operators']
  /** It was made as regions are, so that the interpreter has such. */
  readonly inRegions: boolean
}

/** The plan of a call; why there is none in a file. */
function findPlan(
  tiers: TieredModule,
  fn: LinkedFunction,
  example: readonly Value[],
): Found | { readonly reason: string; readonly inRegions: boolean } {
  const { found, state, operators } = tiers.findForFile(fn, example)
  const { root } = tiers.script
  if ('plan' in found) {
    const changing = reachable(tiers.parts.places().map(({ object, slot }) => object.slots[slot] ?? null))
    const { guards } = state as Extract<typeof state, { kind: 'compiled' }>
    if ([...changing].some(({ storage }) => guards.hasStorage(storage)))
      return { reason: 'it reads what calls change as if it stayed the same', inRegions: false }
    const { captured, placement } = found.plan
    return { captured, placement, state: [], kept: [], operators, inRegions: false }
  }
  const { reason, inRegions } = found
  if (state?.kind !== 'region' || !compiler().isWhole(state.region)) return { reason, inRegions }
  if (state.region.reads.some((place) => isShownElsewhere(root, tiers.script.functions, place)))
    return { reason: 'it reads or writes a tensor of a list, or one that the program has as a constant', inRegions }
  const whole = wholeOf(tiers.script, state, example)
  if (typeof whole === 'string') return { reason: whole, inRegions }
  const { plan, state: places, kept } = whole
  return { ...plan, state: places ?? [], kept, operators, inRegions }
}

/** Whether the memory of an attribute is that of a tensor which is no attribute of an object that can be reached by attributes alone. */
function isShownElsewhere(root: ScriptObject, functions: readonly LinkedFunction[], { object, slot }: Place): boolean {
  const objects = new Set([root])
  const others: Value[] = functions.flatMap(({ source }) => source.constants)
  for (const { slots } of objects)
    for (const value of slots)
      if (value instanceof ScriptObject) objects.add(value)
      else if (!(value instanceof Tensor)) others.push(value)
  const own = object.slots[slot]
  return !objects.has(object) || (own instanceof Tensor && [...reachable(others)].some((t) => t.storage === own.storage))
}

/** Why a plan is none for a file; null where it is one. */
function whyNotInFile(root: ScriptObject, found: Found, example: readonly Value[], states: States): string | null {
  const { captured, state } = found
  if (state.some((place) => states.numberOf(place) < 0)) return 'it uses a tensor that a call makes'
  const reason = whyOnlyHere(root, captured) ?? whyNoPlan({ example, captured })
  if (reason !== null || state.length === 0) return reason
  const held = state.map(({ object, slot }) => object.slots[slot] as Tensor)
  return isReadable(captured, [...tensorsOf(example), ...held]) ? null : 'it reaches beyond a tensor of the module in its memory'
}

/** Whether a reader will find that all stays within the tensors that are inputs. */
function isReadable({ frames, buffers, constants, result }: CapturedRun, inputs: readonly Tensor[]): boolean {
  const sizeOf = ({ kind, index }: Target): number => {
    if (kind === 'constant') return constants[index]!.storage.byteLength
    if (kind === 'buffer') return buffers[index]!.bytes
    const { shape, strides, itemSize } = inputs[index]!
    return extentOf(shape, strides) * itemSize
  }
  for (const { target, offset, shape, strides, type } of result.tensors.values())
    if (target.kind === 'input' && (offset < 0 || (offset + extentOf(shape, strides)) * itemSize(type) > sizeOf(target))) return false
  return frames.every(
    (frame) =>
      frame.pointers.every(({ target, offset }) => offset >= 0 && offset <= sizeOf(target)) &&
      (frame.layout.fields.has('handle') || checkFrame(frame, sizeOf) === null),
  )
}

/** Why a plan is for this module alone; null where that is not for what it holds. Constants of a file are copies, which callers must not get instead. */
function whyOnlyHere(root: ScriptObject, { constants, result }: CapturedRun): string | null {
  const own = new Set([...reachable([root])].map(({ storage }) => storage))
  const isOwn = ({ kind, index }: Target): boolean => kind === 'constant' && own.has(constants[index]!.storage)
  return [...result.tensors.values()].some(({ target }) => isOwn(target)) ? 'it returns a tensor that the module holds' : null
}
