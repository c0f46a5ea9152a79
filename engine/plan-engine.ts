import type { ArenaUse, PlanInfo } from '../compiler/index.js'
import type { AheadModule, AheadPlan } from '../formats/ptlc/module.js'
import { buildPlan, type Plan } from '../compiler/executor/plan.js'
import { fitsTensor, Signature, tensorShape, type TensorShape } from '../compiler/record/signature.js'
import { mayFailMidway } from '../compiler/capture/total-frames.js'
import { restoredOnFailure } from '../compiler/memory/contents.js'
import type { MissingOperator } from '../program/missing.js'
import type { ModelGraph } from '../program/graph-info.js'
import { type ArgumentInfo, inputsOf } from '../program/signature-info.js'
import { PtliteError } from '../runtime/error.js'
import { type Limits, limitsOver } from '../runtime/limits.js'
import { currentBudget, withinLimits } from '../runtime/native/budget.js'
import type { ByteSource } from '../formats/containers/bytes.js'
import type { Storage } from '../runtime/tensor/storage.js'
import { trainingText } from '../program/training-layers.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import { checkText } from '../runtime/tensor/check-arguments.js'
import type { AheadForms, CallSettings, Engine, MethodSignature, RunSettings } from './engine.js'
import type { InterpretingEngine } from './interpreting-engine.js'
import { Lifetime } from './lifetime.js'
import { hold } from './hold.js'
import { PlanState } from './plan-state.js'
import type { ModuleState } from './saved-state.js'

/** The model that a file was compiled from. */
export interface Original {
  /** Loads it. Throws PtliteError where it is not there or another one. */
  open(): InterpretingEngine
}

interface Entry extends Pick<AheadPlan, 'method' | 'example' | 'operators' | 'lastRow' | 'kept'> {
  readonly signature: Signature
  readonly plan: Plan
  /** Inputs behind the arguments, and the forms that they must have. */
  readonly state: readonly Tensor[]
  readonly forms: readonly TensorShape[]
  /** It can fail after it has written to what is to be put back. */
  readonly isRisky: boolean
}

/** A plan with the tensors that it is to be run on. */
interface Found {
  readonly entry: Entry
  readonly inputs: readonly Tensor[]
}

/** Replays the plans of a file that was compiled ahead, and leaves all else to the model that it was compiled from. */
export class PlanEngine implements Engine {
  private readonly entries: readonly Entry[]
  private readonly signatures: ReadonlyMap<string, MethodSignature>
  private readonly state: PlanState
  private loaded: InterpretingEngine | undefined
  private readonly lifetime = new Lifetime()
  /** The module was to leave training mode, which makes no difference to the plans. */
  private leavesTraining = false
  /** Background runs that are under way. */
  private uses = 0
  /** The last of the runs that change the module. */
  private last: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly ahead: AheadModule,
    private readonly source: ByteSource,
    private readonly original: Original,
    /** Levels whose kernels run the plans, as bits by number; 0: all that are in use. */
    levels: number,
    private readonly limits: Limits | undefined,
  ) {
    this.state = new PlanState(ahead.states, source.label)
    this.entries = ahead.plans.map((plan) => entryOf(plan, this.state.tensors, levels, source.label))
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
    const isSame = !this.state.hasChanged
    model.setTraining(mode)
    if (isSame && !matters) this.state.setInitial()
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
    const found = this.find(method, args, settings.lastRow)
    if (found === null) return this.modelFor(method, args).call(method, args, settings)
    const { entry, inputs } = found
    const { plan } = entry
    const { profiler } = settings
    const limits = limitsOver(settings.limits, this.limits)
    const replay = (): Value => (profiler === undefined ? plan.run(inputs) : plan.runProfiled(inputs, profiler))
    // any kernel may be ended by a deadline
    const run = (): Value => (entry.isRisky || currentBudget().clocked ? restoredOnFailure(keptOf(found), replay) : replay())
    return limits === undefined ? run() : withinLimits(limits, run)
  }

  /** Runs that change the module wait for each other. */
  run(method: string, args: readonly Value[], settings: RunSettings): Promise<Value> {
    if (this.state.isEmpty) return this.runNow(method, args, settings)
    const letGo = hold(args)
    const turn = this.last.then(() => this.runNow(method, args, settings)).finally(letGo)
    this.last = turn.catch(() => undefined)
    return turn
  }

  private async runNow(method: string, args: readonly Value[], settings: RunSettings): Promise<Value> {
    const found = this.find(method, args, settings.lastRow)
    if (found === null) return this.modelFor(method, args).run(method, args, settings)
    const { signal } = settings
    const ended = this.lifetime.signalWith(signal)
    const { entry, inputs } = found
    this.uses++
    try {
      return await entry.plan.runAsync(inputs, ended, limitsOver(settings.limits, this.limits), entry.kept)
    } finally {
      this.uses--
      if (this.uses === 0 && this.lifetime.isOver) this.free()
    }
  }

  async compile(method: string, args: readonly Value[]): Promise<void> {
    if (this.findAny(method, args) === null) await this.modelFor(method, args).compile(method, args)
  }

  arena(method: string, args: readonly Value[]): ArenaUse {
    return this.findAny(method, args)?.entry.plan.arena() ?? this.modelFor(method, args).arena(method, args)
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
    return new Set([...constants, ...this.state.storages(), ...(this.loaded?.storages() ?? [])])
  }

  attribute(name: string): Value {
    const own = this.loaded === undefined ? this.state.named(name) : undefined
    if (own === undefined) return this.model('its attributes are').attribute(name)
    this.checkUsable()
    return own
  }

  saveState(): ModuleState {
    if (this.state.isEmpty) return this.model('its state is').saveState()
    this.checkUsable()
    return this.state.save()
  }

  loadState(state: ModuleState): void {
    if (this.state.isEmpty) return this.model('its state is').loadState(state)
    this.checkUsable()
    this.state.load(state)
  }

  forms(): AheadForms {
    const described = (value: Value) => (value instanceof Tensor ? { dtype: value.dtype, shape: value.shape } : null)
    const calls = this.entries.map(({ method, example, lastRow }) => ({ method, lastRow, tensors: example.map(described) }))
    return { state: this.state.byName(), calls }
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
    this.state.free()
    this.source.close()
  }

  /** The plan for a call; null where the file has none. One that gives the last row alone is for calls that want no more, for which one that gives all does, too. */
  private find(method: string, args: readonly Value[], lastRow = false): Found | null {
    this.checkUsable()
    if (this.state.hasChanged) return null
    let found: Found | null = null
    for (const entry of this.entries) {
      if (entry.method !== method || (entry.lastRow && !lastRow)) continue
      const given = entry.signature.match(args)
      if (given === null || !entry.state.every((t, i) => fitsTensor(t, entry.forms[i]!))) continue
      const inputs = [...given, ...entry.state]
      if (!entry.plan.accepts(inputs)) continue
      if (entry.lastRow === lastRow) return { entry, inputs }
      found ??= { entry, inputs }
    }
    return found
  }

  private findAny(method: string, args: readonly Value[]): Found | null {
    return this.find(method, args) ?? this.find(method, args, true)
  }

  private checkUsable(): void {
    this.lifetime.check()
    this.source.checkUnchanged(true)
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
        const loaded = this.original.open()
        try {
          this.state.adopt(loaded)
        } catch (error) {
          loaded.dispose()
          throw error
        }
        this.loaded = loaded
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

function entryOf(ahead: AheadPlan, states: readonly Tensor[], levels: number, label: string): Entry {
  const { method, example, captured, placement, operators, lastRow, kept } = ahead
  const signature = Signature.of(example)
  const plan = buildPlan(captured, placement, levels)
  if (signature === null || typeof plan === 'string')
    throw new PtliteError('INVALID_FILE', `${label}: a plan of ${method}() cannot be used`)
  const state = ahead.state.map((number) => states[number]!)
  return {
    method,
    example,
    signature,
    plan,
    operators,
    lastRow,
    kept,
    state,
    forms: state.map(tensorShape),
    isRisky: mayFailMidway(captured, kept),
  }
}

/** Inputs that are to be put back where a run fails. */
function keptOf({ entry, inputs }: Found): Tensor[] {
  return entry.kept.map((i) => inputs[i]!)
}
