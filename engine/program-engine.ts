import { type ArenaUse, type BackgroundStep, compiler, type PassOptions, type PlanInfo, TieredModule } from '../compiler/index.js'
import type { AheadMethod, AheadModule, AheadPlan, UnplannedCall } from '../formats/ptlc/module.js'
import type { CapturedRun, Target } from '../compiler/capture/captured.js'
import { Signature } from '../compiler/record/signature.js'
import { throwIfAborted } from '../runtime/aborted.js'
import { PtliteError } from '../runtime/error.js'
import type { ModelGraph } from '../program/graph-info.js'
import { reachable } from '../program/reach.js'
import { type Limits, limitsOver } from '../runtime/limits.js'
import { withinLimits } from '../runtime/native/budget.js'
import type { LinkedFunction } from '../program/linked.js'
import type { ScriptModule } from '../interpreter/script-module.js'
import type { Value } from '../runtime/tensor/value.js'
import type { BackgroundInterpreter } from './background/interpret.js'
import type { CallSettings, RunSettings } from './engine.js'
import { InterpretingEngine, parametersOf } from './interpreting-engine.js'
import { background, plans } from './lazy.js'
import { Lifetime } from './lifetime.js'
import { sameState } from './module-state.js'
import type { LoadOptions } from './options.js'
import { passOptions } from './pass-options.js'
import * as features from '../runtime/features.js'

/** Bytes of weights up to which `compile` works on the calling thread, which takes less time than to start another. */
const MAX_COMPILED_HERE = 1 << 16

/** A call that a plan is made for. */
export interface PlannedCall {
  readonly method: string
  /** Fitted to the method's signature. */
  readonly args: readonly Value[]
}

/** What a `.ptlc` file holds of calls, and those that change the module. */
export type AheadPlans = Pick<AheadModule, 'methods' | 'plans' | 'unplanned' | 'training' | 'missing'> & {
  readonly changed: ReadonlyMap<number, string>
}

/** Interprets a program, and compiles it as its calls repeat themselves. */
export class ProgramEngine extends InterpretingEngine {
  private readonly tiers: TieredModule
  /** Those of planAhead, one for each call: a single one keeps no more than a few plans of a method. */
  private readonly aheadOfTime: TieredModule[] = []
  private background: BackgroundInterpreter | null | undefined
  /** It calls operators of this thread's. */
  private isBoundHere: boolean | undefined
  private readonly lifetime = new Lifetime()
  /** What setTraining said last; null where it is as in the file. */
  private trainingSet: boolean | null = null

  private readonly passes: PassOptions
  private readonly limits: Limits | undefined

  constructor(script: ScriptModule, options: LoadOptions) {
    super(script)
    this.passes = passOptions(options)
    this.limits = options.limits
    this.tiers = new TieredModule(script, options.compile ?? 'auto', this.passes)
  }

  call(method: string, args: readonly Value[], { profiler, limits: own, lastRow }: CallSettings): Value {
    const fn = this.functionOf(method, lastRow)
    const limits = limitsOver(own, this.limits)
    if (profiler === undefined && limits === undefined) return this.tiers.call(fn, args)
    return withinLimits(limits, () =>
      profiler?.kernels === true
        ? this.tiers.callProfiled(fn, args, profiler)
        : this.tiers.call(fn, args, profiler === undefined ? {} : { profiler }),
    )
  }

  private functionOf(method: string, lastRow = false): LinkedFunction {
    const fn = this.script.method(method)
    return (lastRow ? this.script.lastRow(fn) : null) ?? fn
  }

  override setTraining(mode: boolean): void {
    const { script, tiers } = this
    // what was made before is kept for when the modes are what they were
    tiers.enterModes(script.modes)
    super.setTraining(mode)
    this.trainingSet = mode
    tiers.enterModes(script.modes)
  }

  async run(method: string, args: readonly Value[], { signal, limits: own, lastRow }: RunSettings): Promise<Value> {
    const fn = this.functionOf(method, lastRow)
    const ended = this.lifetime.signalWith(signal)
    const limits = limitsOver(own, this.limits)
    throwIfAborted(ended)
    this.script.beginUse()
    try {
      return await (this.tiers.replayAsync(fn, args, ended, limits) ?? this.interpretAside(fn, args, ended, limits))
    } finally {
      this.script.endUse()
    }
  }

  private async interpretAside(fn: LinkedFunction, values: readonly Value[], signal: AbortSignal, limits?: Limits): Promise<Value> {
    const background = this.besideThisThread()
    if (background === null) return withinLimits(limits, () => this.tiers.call(fn, values))
    const step = (): BackgroundStep => this.tiers.backgroundStep(fn, values, signal, limits)
    return background.call(fn, values, step, signal, limits)
  }

  async compile(method: string, args: readonly Value[]): Promise<void> {
    const fn = this.script.method(method)
    const waiting = compiler.ready()
    if (waiting !== undefined) await waiting
    const beside = this.isLarge() ? this.besideThisThread() : null
    if (beside !== null) {
      this.script.beginUse()
      try {
        await this.compileAside(beside, fn, args)
      } finally {
        this.script.endUse()
      }
      this.lifetime.check()
    }
    // what is small, and what the background thread cannot do
    withinLimits(this.limits, () => this.tiers.compile(fn, args))
  }

  private async compileAside(beside: BackgroundInterpreter, fn: LinkedFunction, values: readonly Value[]): Promise<void> {
    const step = (): BackgroundStep | null => this.tiers.compilationStep(fn, values)
    while (step() !== null) {
      // another call may have compiled it before the turn of this one comes
      const turn = (): BackgroundStep => step() ?? { kind: 'replay', result: Promise.resolve(null) }
      this.tiers.discard(await beside.call(fn, values, turn, this.lifetime.signal, this.limits), [...reachable(values)])
    }
  }

  /** What runs the module in another thread; null where the build has none, and for operators that were registered in this one. */
  private besideThisThread(): BackgroundInterpreter | null {
    if (!features.background) return null
    this.isBoundHere ??= this.script.functions.some(({ operators }) => operators.some(({ entry }) => (entry?.source ?? null) !== null))
    if (!this.isBoundHere) this.background ??= background().interpretInBackground(this.script, this.passes)
    return this.background ?? null
  }

  /** Compiling it takes so long that the event loop must not wait for it. */
  private isLarge(): boolean {
    return [...this.storages()].reduce((sum, { byteLength }) => sum + byteLength, 0) > MAX_COMPILED_HERE
  }

  /**
   * Plans for calls with arguments of these forms, which it makes, and the methods that they are of: what a `.ptlc` file holds; with the
   * calls that there can be no plan for in such a file, and why. The plans end with the module. Throws INVALID_ARGUMENT where there is no
   * plan for any of the calls or for parts of them, and what a call throws.
   *
   * Plans of a file are for the module as its own file has it. Calls that change it are noted (`changed`), with why there is no plan of them: where there
   * are any that are not among `changing`, which are not carried out, the plans are those of another module, and are to be made again with one that was just loaded.
   */
  planAhead(calls: readonly PlannedCall[], changing: ReadonlyMap<number, string> = new Map()): AheadPlans {
    const training = { set: this.trainingSet, isOn: this.script.modes.includes('t'), layers: this.trainingLayers() }
    const methods = new Map<string, AheadMethod>()
    const constants = compiler().newSharedConstants()
    const { whyNoMethod, whyNoPlan } = plans()
    const made: AheadPlan[] = []
    const unplanned: UnplannedCall[] = []
    const changed = new Map(changing)
    let divided = changing.size > 0
    for (const [i, { method, args: example }] of calls.entries()) {
      const fn = this.script.method(method)
      // before the call, which may change lists
      const signature = Signature.of(example)?.toString() ?? 'objects'
      const parameters = parametersOf(fn)
      const known = changing.get(i)
      if (known !== undefined) {
        if (whyNoMethod(parameters) === null) methods.set(method, { name: method, arguments: parameters })
        unplanned.push({ method, signature, reason: known })
        continue
      }
      const tiers = new TieredModule(this.script, 'eager', this.passes, constants)
      this.aheadOfTime.push(tiers)
      const before = this.moduleState()
      const found = tiers.findPlan(fn, example)
      if (!sameState(this.moduleState(), before)) changed.set(i, 'plan' in found ? 'it changes the module' : found.reason)
      const fault =
        'plan' in found
          ? (whyNoMethod(parameters) ?? this.whyOnlyHere(found.plan.captured) ?? whyNoPlan({ example, captured: found.plan.captured }))
          : found.reason
      if ('plan' in found && fault === null) {
        const { plan, operators } = found
        methods.set(method, { name: method, arguments: parameters })
        made.push({ method, example, captured: plan.captured, placement: plan.placement, operators })
      } else {
        if (whyNoMethod(parameters) === null) methods.set(method, { name: method, arguments: parameters })
        unplanned.push({ method, signature, reason: fault! })
        divided ||= 'inRegions' in found && found.inRegions
      }
    }
    if (made.length === 0 && unplanned.length > 0 && !divided) {
      const reasons = unplanned.map(({ method, signature, reason }) => `${method}(${signature}) cannot be compiled to a plan: ${reason}`)
      throw new PtliteError('INVALID_ARGUMENT', reasons.join('\n'))
    }
    return { methods: [...methods.values()], plans: made, unplanned, training, missing: this.missing, changed }
  }

  /** Why a plan is none for a file; null where that is not for what the module holds. Constants of a file are copies, which callers must not get instead. */
  private whyOnlyHere({ constants, result }: CapturedRun): string | null {
    const own = new Set([...reachable([this.script.root])].map(({ storage }) => storage))
    const isOwn = ({ kind, index }: Target): boolean => kind === 'constant' && own.has(constants[index]!.storage)
    return [...result.tensors.values()].some(({ target }) => isOwn(target)) ? 'it returns a tensor that the module holds' : null
  }

  arena(method: string, args: readonly Value[]): ArenaUse {
    const fn = this.script.method(method)
    return withinLimits(this.limits, () => this.tiers.planFor(fn, args)).plan.arena()
  }

  explain(method: string, args: readonly Value[]): string {
    const fn = this.script.method(method)
    return withinLimits(this.limits, () => this.tiers.explain(fn, args))
  }

  graph(method: string, args: readonly Value[], optimized: boolean): ModelGraph {
    const fn = this.script.method(method)
    return withinLimits(this.limits, () => this.tiers.graph(fn, args, optimized))
  }

  override plans(): PlanInfo[] {
    const inBackground = this.background?.plans ?? []
    if (inBackground.length === 0) return this.tiers.plans()
    const { fillMarks } = background()
    const place = (functionName: string, pc: number): string => this.tiers.placeText({ functionName, pc })
    const filled = (text: string | null): string | null => (text === null ? null : fillMarks(text, place))
    const there = inBackground.map(({ region, reason, ...info }): PlanInfo => {
      const bounds = region === null ? null : { from: filled(region.from), until: filled(region.until) }
      return { ...info, region: bounds, reason: filled(reason) }
    })
    // what is interpreted here may be compiled there
    const isThere = ({ method, signature, state }: PlanInfo): boolean =>
      state === 'interpreted' &&
      there.some((other) => other.method === method && other.signature === signature && (other.region?.from ?? null) === null)
    return [...this.tiers.plans().filter((info) => !isThere(info)), ...there]
  }

  override dispose(): void {
    this.lifetime.end()
    for (const tiers of [this.tiers, ...this.aheadOfTime]) tiers.dispose()
    this.background?.dispose()
    super.dispose()
  }
}
