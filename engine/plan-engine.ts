import type { ArenaUse, PlanInfo } from '../compiler/index.js'
import type { AheadModule, AheadPlan } from '../formats/ptlc/module.js'
import { buildPlan, type Plan } from '../compiler/executor/plan.js'
import { Signature } from '../compiler/record/signature.js'
import type { MissingOperator } from '../program/missing.js'
import type { ModelGraph } from '../program/graph-info.js'
import { type ArgumentInfo, inputsOf } from '../program/signature-info.js'
import { PtliteError } from '../runtime/error.js'
import { type Limits, limitsOver } from '../runtime/limits.js'
import { withinLimits } from '../runtime/native/budget.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { trainingText } from '../program/training-layers.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { checkText } from '../runtime/tensor/check-arguments.js'
import type { CallSettings, Engine, MethodSignature, RunSettings } from './engine.js'
import type { InterpretingEngine } from './interpreting-engine.js'
import { Lifetime } from './lifetime.js'
import type { ModuleState } from './saved-state.js'
import { sameState } from './module-state.js'

/** The model that a file was compiled from. */
export interface Original {
  /** Loads it. Throws PtliteError where it is not there or another one. */
  open(): InterpretingEngine
}

interface Entry {
  readonly method: string
  readonly signature: Signature
  readonly plan: Plan
  readonly operators: AheadPlan['operators']
}

/** Replays the plans of a file that was compiled ahead, and leaves all else to the model that it was compiled from. */
export class PlanEngine implements Engine {
  private readonly entries: readonly Entry[]
  private readonly signatures: ReadonlyMap<string, MethodSignature>
  private loaded: InterpretingEngine | undefined
  /** Of the original, as it was loaded: the state that plans were made for. */
  private initial: readonly unknown[] = []
  private readonly lifetime = new Lifetime()
  /** The module was to leave training mode, which makes no difference to the plans. */
  private leavesTraining = false
  /** Background runs that are under way. */
  private uses = 0

  constructor(
    private readonly ahead: AheadModule,
    private readonly source: ByteSource,
    private readonly original: Original,
    /** Levels whose kernels run the plans, as bits by number; 0: all that are in use. */
    levels: number,
    private readonly limits: Limits | undefined,
  ) {
    this.entries = ahead.plans.map((plan) => entryOf(plan, levels, source.label))
    this.signatures = new Map(ahead.methods.map(({ name, arguments: list }) => [name, { parameters: list, namedTuples: new Map() }]))
  }

  get methods(): string[] {
    return this.loaded?.methods ?? this.ahead.methods.map(({ name }) => name)
  }

  get operators(): string[] {
    return [...this.ahead.operators]
  }

  get missing(): readonly MissingOperator[] {
    return this.loaded?.missing ?? this.ahead.missing
  }

  get bytecodeVersion(): number {
    return this.ahead.bytecodeVersion
  }

  get operatorVersion(): number {
    return this.ahead.operatorVersion
  }

  get extraFiles(): ReadonlyMap<string, Uint8Array> {
    return this.model('its extra files are').extraFiles
  }

  /** The file has the types of arguments; the model knows dtypes and sizes where its own file says them. */
  get inputs(): readonly ArgumentInfo[] | null {
    const forward = this.ahead.methods.find(({ name }) => name === 'forward')
    return this.loaded === undefined ? (forward === undefined ? null : inputsOf(forward.arguments)) : this.loaded.inputs
  }

  get outputs(): readonly ArgumentInfo[] | null {
    return this.loaded?.outputs ?? null
  }

  /**
   * Plans are of one mode, and calls in the other one are left to the model. Leaving training mode changes nothing where the plans were made outside of it, or
   * nothing in the model goes by it.
   */
  setTraining(mode: boolean): void {
    this.checkUsable()
    const { isOn, layers } = this.ahead.training
    const matters = mode || (isOn && layers.length > 0)
    if (matters) this.model(`its plans were made ${isOn ? 'in' : 'outside of'} training mode; the other mode is`)
    else this.leavesTraining = true
    if (this.loaded !== undefined) this.setTrainingOf(this.loaded, mode, matters)
  }

  private setTrainingOf(model: InterpretingEngine, mode: boolean, matters: boolean): void {
    const isSame = sameState(model.moduleState(), this.initial)
    model.setTraining(mode)
    if (isSame && !matters) this.initial = model.moduleState()
  }

  trainingWarning(label: string): string | null {
    const { layers } = this.ahead.training
    return layers.length === 0
      ? null
      : trainingText(label, layers, 'it was compiled so; compile the model again, out of training mode (ptlite compile --eval)')
  }

  parameters(): Map<string, Tensor> {
    return this.model('its parameters are').parameters()
  }

  signature(method: string): MethodSignature {
    this.checkUsable()
    checkText(method, 'the name of a method')
    const signature = this.signatures.get(method)
    if (signature !== undefined) return signature
    const known = this.ahead.methods.map(({ name }) => name).join(', ')
    return this.model(`it has no method '${method}', only ${known}; others are`).signature(method)
  }

  call(method: string, args: readonly Value[], settings: CallSettings): Value {
    const found = this.find(method, args)
    if (found === null) return this.modelFor(method, args).call(method, args, settings)
    const { plan, inputs } = found
    const { profiler } = settings
    const limits = limitsOver(settings.limits, this.limits)
    const run = (): Value => (profiler === undefined ? plan.run(inputs) : plan.runProfiled(inputs, profiler))
    return limits === undefined ? run() : withinLimits(limits, run)
  }

  async run(method: string, args: readonly Value[], settings: RunSettings): Promise<Value> {
    const found = this.find(method, args)
    if (found === null) return this.modelFor(method, args).run(method, args, settings)
    const { signal } = settings
    const ended = this.lifetime.signalWith(signal)
    this.uses++
    try {
      return await found.plan.runAsync(found.inputs, ended, limitsOver(settings.limits, this.limits))
    } finally {
      this.uses--
      if (this.uses === 0 && this.lifetime.isOver) this.free()
    }
  }

  async compile(method: string, args: readonly Value[]): Promise<void> {
    if (this.find(method, args) === null) await this.modelFor(method, args).compile(method, args)
  }

  arena(method: string, args: readonly Value[]): ArenaUse {
    return this.find(method, args)?.plan.arena() ?? this.modelFor(method, args).arena(method, args)
  }

  explain(method: string, args: readonly Value[]): string {
    return this.model('its operators are').explain(method, args)
  }

  graph(method: string, args: readonly Value[], optimized: boolean): ModelGraph {
    return this.model('its operators are').graph(method, args, optimized)
  }

  plans(): PlanInfo[] {
    const { level } = this.ahead
    const own = this.entries.map(({ method, signature, plan, operators }): PlanInfo => {
      const { frames, arenaBytes, lowerBound, naiveBytes } = plan
      const memory = { arenaBytes, lowerBound, naiveBytes }
      const weights = { bytes: plan.captured.constants.reduce((sum, { storage }) => sum + storage.byteLength, 0), shared: 0 }
      return {
        method,
        signature: signature.toString(),
        region: null,
        state: 'plan',
        reason: null,
        operators,
        choices: [],
        level,
        frames,
        memory,
        weights,
      }
    })
    const left = this.ahead.unplanned.map(({ method, signature, reason }): PlanInfo => {
      const none = { recorded: 0, optimized: 0 }
      return {
        ...{ method, signature, region: null, state: 'interpreted', reason, operators: none, choices: [] },
        level: null,
        frames: 0,
        memory: null,
        weights: null,
      }
    })
    return [...own, ...(this.loaded?.plans() ?? left)]
  }

  storages(): Set<Storage> {
    const constants = this.entries.flatMap(({ plan }) => plan.captured.constants.map(({ storage }) => storage))
    return new Set([...constants, ...(this.loaded?.storages() ?? [])])
  }

  attribute(name: string): Value {
    return this.model('its attributes are').attribute(name)
  }

  saveState(): ModuleState {
    return this.model('its state is').saveState()
  }

  loadState(state: ModuleState): void {
    this.model('its state is').loadState(state)
  }

  dispose(): void {
    if (this.lifetime.isOver) return
    this.lifetime.end()
    for (const { plan } of this.entries) plan.dispose()
    this.loaded?.dispose()
    if (this.uses === 0) this.free()
  }

  private free(): void {
    // returned views must not reach into memory that is no longer mapped
    for (const { plan } of this.entries) for (const { storage } of plan.captured.constants) storage.free()
    this.source.close()
  }

  /** The plan for a call; null where the file has none. */
  private find(method: string, args: readonly Value[]): { plan: Plan; inputs: Tensor[] } | null {
    this.checkUsable()
    if (this.hasChanged()) return null
    for (const entry of this.entries) {
      const inputs = entry.method === method ? entry.signature.match(args) : null
      if (inputs !== null && entry.plan.accepts(inputs)) return { plan: entry.plan, inputs }
    }
    return null
  }

  private checkUsable(): void {
    this.lifetime.check()
    this.source.checkUnchanged(true)
  }

  /** A call of the original has set an attribute, say, that plans know as it was. */
  private hasChanged(): boolean {
    return this.loaded !== undefined && !sameState(this.loaded.moduleState(), this.initial)
  }

  private modelFor(method: string, args: readonly Value[]): Engine {
    if (!this.signatures.has(method)) return this.model('other methods are')
    const known = this.entries.filter((e) => e.method === method).map((e) => `${method}(${e.signature.toString()})`)
    const found = Signature.of(args)?.toString() ?? 'objects'
    const left = this.ahead.unplanned.find((call) => call.method === method && call.signature === found)
    if (left !== undefined)
      return this.model(`${method}(${found}) is interpreted (${left.reason.split('\n', 1)[0]}), which takes its program; that is`)
    if (known.length === 0) return this.model(`it has no plans of ${method}(); calls of it are`)
    return this.model(`it was compiled for ${known.join(', ')}, not for ${method}(${found}); other calls are`)
  }

  /** The original, loaded when it is first needed; `what` begins the sentence that says why. */
  private model(what: string): InterpretingEngine {
    this.lifetime.check()
    if (this.loaded === undefined) {
      try {
        this.loaded = this.original.open()
        this.initial = this.loaded.moduleState()
        if (this.leavesTraining) this.setTrainingOf(this.loaded, false, false)
      } catch (cause) {
        if (!(cause instanceof PtliteError)) throw cause
        throw new PtliteError('INVALID_ARGUMENT', `${this.source.label}: ${what} in ${this.ahead.original} alone: ${cause.message}`, {
          cause,
        })
      }
    }
    return this.loaded
  }
}

function entryOf({ method, example, captured, placement, operators }: AheadPlan, levels: number, label: string): Entry {
  const signature = Signature.of(example)
  const plan = buildPlan(captured, placement, levels)
  if (signature === null || typeof plan === 'string')
    throw new PtliteError('INVALID_FILE', `${label}: a plan of ${method}() cannot be used`)
  return { method, signature, plan, operators }
}
