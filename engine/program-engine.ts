import { type ArenaUse, compiler, type PassOptions, type PlanInfo, TieredModule } from '../compiler/index.js'
import { throwIfAborted } from '../runtime/aborted.js'
import type { ModelGraph } from '../program/graph-info.js'
import { type Limits, limitsOver } from '../runtime/limits.js'
import { withinLimits } from '../runtime/native/budget.js'
import type { LinkedFunction } from '../program/linked.js'
import type { ScriptModule } from '../interpreter/script-module.js'
import type { Value } from '../runtime/tensor/value.js'
import type { BackgroundInterpreter } from './background/interpret.js'
import type { CallSettings, RunSettings } from './engine.js'
import { hold } from './hold.js'
import { interpretedAgain } from './interpreted-again.js'
import { InterpretingEngine } from './interpreting-engine.js'
import { background, planning } from './lazy.js'
import { Lifetime } from './lifetime.js'
import type { AheadPlans, Changes, PlannedCall } from './plan-ahead.js'
import type { LoadOptions } from './options.js'
import { passOptions } from './pass-options.js'
import * as features from '../runtime/features.js'

/** Bytes of weights up to which `compile` works on the calling thread, which takes less time than to start another. */
const MAX_COMPILED_HERE = 1 << 16

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
      const replay = this.tiers.replayAsync(fn, args, ended, limits)
      if (replay !== null) return await this.repeated(replay, fn, args, ended, limits)
      return await (this.besideThisThread()?.call(fn, args, ended, limits) ?? this.callHere(fn, args, limits))
    } finally {
      this.script.endUse()
    }
  }

  private callHere(fn: LinkedFunction, args: readonly Value[], limits?: Limits): Value {
    return withinLimits(limits, () => this.tiers.call(fn, args))
  }

  /** Where the replay fails, the interpreter needs arguments that the caller may have disposed of by then. */
  private async repeated(
    replay: Promise<Value>,
    fn: LinkedFunction,
    args: readonly Value[],
    signal: AbortSignal,
    limits?: Limits,
  ): Promise<Value> {
    const letGo = hold(args)
    const interpret = async (): Promise<Value> =>
      this.besideThisThread()?.interpret(fn, args, signal, limits) ?? this.callHere(fn, args, limits)
    try {
      return await interpretedAgain(replay, interpret)
    } finally {
      letGo()
    }
  }

  async compile(method: string, args: readonly Value[]): Promise<void> {
    const fn = this.script.method(method)
    const waiting = compiler.ready()
    if (waiting !== undefined) await waiting
    const beside = this.isLarge() ? this.besideThisThread() : null
    if (beside !== null) {
      this.script.beginUse()
      try {
        await beside.compile(fn, args, this.lifetime.signal, this.limits)
      } finally {
        this.script.endUse()
      }
      this.lifetime.check()
    }
    // what is small, and what the background thread cannot do
    withinLimits(this.limits, () => this.tiers.compile(fn, args))
  }

  /** What runs the module in another thread; null where the build has none, and for operators that were registered in this one. */
  private besideThisThread(): BackgroundInterpreter | null {
    if (!features.background) return null
    this.isBoundHere ??= this.script.functions.some(({ operators }) => operators.some(({ entry }) => (entry?.source ?? null) !== null))
    if (!this.isBoundHere) this.background ??= background().interpretInBackground(this.script, this.passes, this.tiers)
    return this.background ?? null
  }

  /** Compiling it takes so long that the event loop must not wait for it. */
  private isLarge(): boolean {
    return [...this.storages()].reduce((sum, { byteLength }) => sum + byteLength, 0) > MAX_COMPILED_HERE
  }

  /** What a `.ptlc` file holds of these calls: see `planAhead` in plan-ahead.ts. */
  planAhead(calls: readonly PlannedCall[], known?: Changes): AheadPlans {
    const { script } = this
    return planning().planAhead(
      {
        root: script.root,
        missing: this.missing,
        training: { set: this.trainingSet, isOn: script.modes.includes('t'), layers: this.trainingLayers() },
        functionOf: (method, lastRow) => this.functionOf(method, lastRow),
        moduleState: (free) => this.moduleState(free),
        tiersOf: (constants) => {
          const tiers = new TieredModule(script, 'eager', this.passes, constants)
          this.aheadOfTime.push(tiers)
          return tiers
        },
      },
      calls,
      known,
    )
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
