import { DeliveredCall } from '../../compiler/call.js'
import { MAX_ATTEMPTS } from '../../compiler/entry.js'
import { compiler, type Guards, type Outcome, type Plan, type TieredModule } from '../../compiler/index.js'
import { Signature } from '../../compiler/record/signature.js'
import { signatureHash } from '../../compiler/record/signature-hash.js'
import type { MethodEntry } from '../../compiler/regions/method-regions.js'
import type { StateInput } from '../../compiler/regions/state-call.js'
import { addEntry } from '../../compiler/tier.js'
import type { LinkedFunction } from '../../program/linked.js'
import type { Limits } from '../../runtime/limits.js'
import { milliseconds } from '../../runtime/platform.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'

/** A plan that the other thread made, as this one has it. */
export interface ReceivedPlan {
  readonly plan: Plan
  readonly guards: Guards
  /** Null for a plan of arguments alone. */
  readonly state: readonly StateInput[] | null
  /** Inputs whose contents are put back where a run fails. */
  readonly kept: readonly number[]
}

/** How a call whose turn has come goes on. */
export type BackgroundStep =
  | { readonly kind: 'replay'; readonly result: Promise<Value> }
  | { readonly kind: 'interpret' }
  /** Interpreted and compiled in the other thread; `done` is told the outcome. */
  | { readonly kind: 'compile'; readonly done: (outcome: Outcome<ReceivedPlan>) => void }
  /**
   * Carried out in regions there, which that thread makes and keeps. `done` is told how long it took where something was found out, and the plan of the method as a whole where
   * it has one and `wantsPlan`.
   */
  | {
      readonly kind: 'regions'
      readonly wantsPlan: boolean
      readonly done: (milliseconds: number, outcome: Outcome<ReceivedPlan> | null) => void
    }

export const INTERPRET = { kind: 'interpret' } as const
/** Plans with state that are received for one signature, where they keep not to hold. */
const MAX_RECEIVED = 8

/** Decides how calls in the background go on, by what is known of the module here. */
export class BackgroundSteps {
  constructor(private readonly tiers: TieredModule) {}

  /** What is to be done with a call whose turn has come; a plan may have been made while it waited. */
  next(fn: LinkedFunction, args: readonly Value[], signal?: AbortSignal, limits?: Limits): BackgroundStep {
    const { tiers } = this
    const { mode } = tiers
    if (tiers.isBusy || (mode === 'off' && [...tiers.known()].length === 0)) return INTERPRET
    const plans = tiers.plansOf(fn)
    for (const [i, entry] of plans.entries.entries()) {
      const inputs = entry.signature.match(args)
      if (inputs === null) continue
      plans.touch(i)
      const result = tiers.replayEntryAsync(entry, inputs, signal, limits) ?? this.replayWithState(entry, inputs, args, signal, limits)
      if (result !== null) return { kind: 'replay', result }
      if (entry.withoutPlan || (entry.state.kind === 'compiled' && entry.state.guards.hold())) return INTERPRET
      if (entry.regions !== null || entry.attempts >= MAX_ATTEMPTS) return this.inRegions(fn, entry)
      // a plan that does not hold any longer: what it reads may be state that other methods write to
      return entry.state.kind === 'compiled' && this.isDivided() ? this.divided(fn, entry) : this.compiled(fn, entry)
    }
    const due = mode === 'eager' || (mode === 'auto' && !plans.rests() && plans.isDue(signatureHash(args)))
    const signature = due ? Signature.of(args) : null
    if (signature === null) return INTERPRET
    const entry = addEntry(plans, signature, args)
    return this.isDivided(fn) ? this.divided(fn, entry) : this.compiled(fn, entry)
  }

  /** How a call compiles a method for arguments of this form; null where nothing is left to do there. */
  compilation(fn: LinkedFunction, args: readonly Value[]): BackgroundStep | null {
    const { tiers } = this
    const signature = tiers.isBusy ? null : Signature.of(args)
    if (signature === null) return null
    const entry = tiers.find(fn, args) ?? addEntry(tiers.plansOf(fn), signature, args)
    const { state, regions, withoutPlan, attempts } = entry
    const isDone = regions !== null || withoutPlan || attempts >= MAX_ATTEMPTS || (state.kind === 'compiled' && state.guards.hold())
    return isDone ? null : this.compiled(fn, entry)
  }

  /** Some method is carried out in regions, as those are that write to the module; or this one is, or `fn` without its last row alone. */
  private isDivided(fn?: LinkedFunction): boolean {
    for (const [{ source }, { entries }] of this.tiers.known())
      if ((fn === undefined || source.name === fn.source.name) && entries.some(({ regions }) => regions !== null)) return true
    return false
  }

  /** Starts a call of a method that reads or writes state of its module. */
  private replayWithState(
    entry: MethodEntry,
    inputs: readonly Tensor[],
    args: readonly Value[],
    signal: AbortSignal | undefined,
    limits: Limits | undefined,
  ): Promise<Value> | null {
    const { aside, state } = entry
    let result = aside?.start(inputs, signal, limits) ?? null
    if (result === null && state.kind === 'region' && state.call !== null && state.region.guards.hold())
      result = compiler().startWhole(state.region, state.call, [this.tiers.script.root, ...args], signal, limits)
    if (result !== null) entry.replays++
    return result
  }

  private divided(fn: LinkedFunction, entry: MethodEntry): BackgroundStep {
    entry.dispose()
    entry.state = { kind: 'refused', reason: 'attributes that it reads change between calls' }
    this.tiers.divide(fn, entry)
    return this.inRegions(fn, entry)
  }

  private inRegions(fn: LinkedFunction, entry: MethodEntry): BackgroundStep {
    const plans = this.tiers.plansOf(fn)
    return {
      kind: 'regions',
      // the plan is one of these ints
      wantsPlan: entry.signature.varying.length === 0 && entry.received < MAX_RECEIVED,
      done: (spent, outcome) => {
        entry.cost += spent
        if (outcome?.kind !== 'plan') return
        const { plan, guards, state } = outcome.plan
        entry.received++
        if (!plans.entries.includes(entry)) return plan.dispose()
        if (state === null) {
          this.takeOver(fn, entry, outcome)
          entry.regions = null
          return
        }
        entry.aside?.call.dispose()
        entry.aside = new (compiler().StateCall)(callOf(outcome), guards, state)
      },
    }
  }

  private compiled(fn: LinkedFunction, entry: MethodEntry): BackgroundStep {
    const begin = milliseconds()
    const plans = this.tiers.plansOf(fn)
    return {
      kind: 'compile',
      done: (outcome) => {
        entry.cost += milliseconds() - begin
        if (plans.entries.includes(entry)) this.takeOver(fn, entry, outcome)
        else if (outcome.kind === 'plan') outcome.plan.plan.dispose()
      },
    }
  }

  /** What the other thread has made of a call. */
  private takeOver(fn: LinkedFunction, entry: MethodEntry, outcome: Outcome<ReceivedPlan>): void {
    const { tiers } = this
    if (outcome.kind === 'failed' && outcome.aborted) return
    entry.attempts++
    // a call on this thread may have come first
    if (outcome.kind === 'failed' || (entry.state.kind === 'compiled' && entry.state.guards.hold())) {
      if (outcome.kind === 'plan') outcome.plan.plan.dispose()
      return
    }
    entry.dispose()
    switch (outcome.kind) {
      case 'refused':
        entry.state = { kind: 'refused', reason: tiers.reasonText(outcome) }
        if (!outcome.temporary || entry.attempts === MAX_ATTEMPTS) tiers.divide(fn, entry)
        return
      case 'operators':
        entry.state = { kind: 'refused', reason: outcome.reason }
        entry.withoutPlan = true
        break
      case 'plan': {
        const { guards } = outcome.plan
        entry.state = { kind: 'compiled', call: callOf(outcome), guards }
        compiler().letGoOfSources(guards, tiers.constantsInUse())
      }
    }
    entry.recordedOperators = outcome.recorded
  }
}

function callOf({ plan: { plan, kept }, operators, choices }: Extract<Outcome<ReceivedPlan>, { kind: 'plan' }>): DeliveredCall {
  return new DeliveredCall(plan, operators, choices, kept)
}
