import { milliseconds } from '../runtime/platform.js'
import { PtliteError } from '../runtime/error.js'
import { lastSourceLine, type ModelGraph } from '../program/graph-info.js'
import type { LinkedFunction } from '../program/linked.js'
import type { Profiler } from '../interpreter/profile.js'
import type { RunOptions } from '../interpreter/run.js'
import { modulesObserved, type ScriptModule } from '../interpreter/script-module.js'
import { endsCall, type Limits } from '../runtime/limits.js'
import { reachable, visitTensors } from '../program/reach.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import { type DictKey, isContainer, listType, setListType, Tuple, type Value } from '../runtime/tensor/value.js'
import type { Plan } from './executor/plan.js'
import type { Call } from './call.js'
import type { CompiledCall } from './compiled-call.js'
import type { Graph, Origin } from './graph/graph.js'
import type { SharedConstants } from './graph/shared-constants.js'
import { compiler } from './lazy.js'
import { DEFAULT_OPTIONS, type PassOptions } from './passes/pass.js'
import type { Guards } from './record/guards.js'
import { ModuleParts } from './record/module-parts.js'
import { type Recording, recorderOf, type Refusal } from './record/recorder.js'
import type { RegionRecording } from './record/region.js'
import { Signature } from './record/signature.js'
import type { StateParts } from './record/state-signature.js'
import type { MethodEntry, MethodRegions } from './regions/method-regions.js'
import type { RegionHost } from './regions/region-call.js'
import { Entry, type EntryState, MAX_ATTEMPTS } from './entry.js'
import { type Described, describeEntry, type PlanInfo } from './plan-info.js'
import { signatureHash } from './record/signature-hash.js'
import { SignatureList } from './signature-list.js'

/** 'auto': what is called again with arguments of the same form is compiled; 'eager': at once; 'off': never. */
export type CompileMode = 'auto' | 'off' | 'eager'

/** A plan, with the number of operators that were recorded and are left. */
export interface FoundPlan {
  readonly plan: Plan
  readonly operators: PlanInfo['operators']
}

/** Why there can be none for arguments of a form. */
export interface NoPlan {
  readonly signature: string
  readonly reason: string
  /** Parts of the method have plans. */
  readonly inRegions: boolean
}

type MethodPlans = Map<LinkedFunction, SignatureList<MethodEntry>>

/** Calls methods of a module: interprets them first, and replays what repeats itself. */
export class TieredModule implements RegionHost {
  readonly parts: ModuleParts
  /** Changes with what `plans` says. */
  revision = 0
  private methods: MethodPlans = new Map()
  /** By the modes that modules were in (ScriptModule.modes): plans of other modes are kept beside. */
  private readonly byModes = new Map<string, MethodPlans>()
  private modes: string | undefined
  private busy = false

  constructor(
    readonly script: ScriptModule,
    readonly mode: CompileMode,
    private readonly options: PassOptions = DEFAULT_OPTIONS,
    /** What the compiler made of the module's weights. */
    private constants?: SharedConstants,
    /** Of every interpreted call that has no options of its own. */
    readonly runOptions: RunOptions = {},
  ) {
    this.parts = new ModuleParts(script)
  }

  /** Goes on with the plans that were made when modules were in these modes. */
  enterModes(modes: string): void {
    if (modes === this.modes) return
    // those made so far are of the modes that are named first
    if (this.modes !== undefined) this.methods = this.byModes.get(modes) ?? (new Map() as MethodPlans)
    this.byModes.set(modes, this.methods)
    this.modes = modes
    this.noteChange()
  }

  /** Calls are carried out as they would be without plans: one is under way, or somebody observes all of them. */
  get isBusy(): boolean {
    return this.busy || modulesObserved()
  }

  /** What is known of methods in the modes that modules are in. */
  known(): Iterable<readonly [LinkedFunction, SignatureList<MethodEntry>]> {
    return this.methods
  }

  /** Those of all modes. */
  private everyMethod(): SignatureList<MethodEntry>[] {
    const all = this.byModes.size > 1 ? [...this.byModes.values()] : [this.methods]
    return all.flatMap((methods) => [...methods.values()])
  }

  /** Calls a method; `args` come without `self` and have been fitted to its schema. */
  call(fn: LinkedFunction, args: readonly Value[], options: RunOptions = {}): Value {
    // a profile is one of operators, and a model may call back into the module through a custom operator
    if (
      this.busy ||
      (this.mode === 'off' && this.methods.size === 0) ||
      (options.profiler ?? null) !== null ||
      modulesObserved() ||
      !compiler.atHand()
    )
      return this.script.call(fn, args, options)
    this.busy = true
    try {
      const plans = this.plansOf(fn)
      if (this.mode === 'auto' && (plans.skips() || plans.dozes())) return this.interpretCall(fn, args)
      // most often it is the one that was used last; a hash tells others apart faster than what it is made from
      let hash: number | undefined
      for (let i = 0; i < plans.entries.length; i++) {
        const entry = plans.entries[i]!
        if (i > 1 && entry.signature.varying.length === 0 && entry.hash !== (hash ??= signatureHash(args))) continue
        const inputs = entry.signature.match(args)
        if (inputs === null) continue
        if (entry.regions !== null) {
          const parts = this.startOf(entry, args)
          // state of the module decides as arguments do
          if (parts === undefined) continue
          plans.touch(i)
          return entry.regions.call(args, parts)
        }
        const hopeless = isHopeless(entry)
        if (hopeless && entry.signature.varying.length > 0) continue
        plans.touch(i, hopeless)
        return hopeless ? this.interpretOnly(fn, plans, args) : this.callEntry(fn, entry, inputs, args)
      }
      return this.callNew(fn, plans, args, hash)
    } finally {
      this.busy = false
    }
  }

  /** Compiles a method for arguments of this form, unless it cannot be; `plans` tells. Runs it with them. */
  compile(fn: LinkedFunction, args: readonly Value[]): void {
    this.compiledFor(fn, args)
  }

  find(fn: LinkedFunction, args: readonly Value[]): MethodEntry | undefined {
    return this.plansOf(fn).entries.find((entry) => entry.signature.match(args) !== null && this.fits(entry, args))
  }

  private fits({ state }: MethodEntry, args: readonly Value[]): boolean {
    return state.kind !== 'region' || compiler().fitsStart(state.region, [this.script.root, ...args])
  }

  /** What the first region of a method begins with; null where it has none, undefined where that has another form. */
  private startOf({ state }: MethodEntry, args: readonly Value[]): StateParts | null | undefined {
    return state.kind === 'region' ? (compiler().matchStart(state.region, [this.script.root, ...args]) ?? undefined) : null
  }

  /** False where another call will be replayed or interpreted as the last one was. */
  private mayLearn({ state, attempts, regions }: MethodEntry): boolean {
    if (regions !== null) return regions.mayLearn
    return state.kind === 'recorded' || (state.kind !== 'compiled' && attempts < MAX_ATTEMPTS)
  }

  /** The state of arguments of this form. Each call gets lists and dicts of its own, since the method may change them. */
  private compiledFor(fn: LinkedFunction, args: readonly Value[]): MethodEntry {
    const plans = this.plansOf(fn)
    const signature = Signature.of(args)
    if (signature === null)
      throw new PtliteError('INVALID_ARGUMENT', `${fn.source.method}() cannot be compiled for arguments that are objects`)
    let entry = this.find(fn, args) ?? addEntry(plans, signature, args)
    this.busy = true
    try {
      for (let calls = 0; calls <= MAX_ATTEMPTS && this.mayLearn(entry); calls++) {
        const given = copyContainers(args)
        const inputs = signature.match(given)!
        const { regions } = entry
        const result = regions === null ? this.callEntry(fn, entry, inputs, given) : regions.call(given, this.startOf(entry, given) ?? null)
        this.discard(result, inputs)
        // the state that the call has left may be of another form
        entry = this.find(fn, args) ?? addEntry(plans, signature, args)
      }
    } finally {
      this.busy = false
    }
    return entry
  }

  /**
   * Compiles a method for arguments of this form and returns the plan.
   * Throws INVALID_ARGUMENT saying why there can be none.
   */
  planFor(fn: LinkedFunction, args: readonly Value[]): FoundPlan {
    const found = this.findPlan(fn, args)
    if ('plan' in found) return found
    throw new PtliteError('INVALID_ARGUMENT', `${fn.source.method}(${found.signature}) cannot be compiled to a plan: ${found.reason}`)
  }

  /** As planFor, but says why there can be no plan. Throws what the call throws. */
  findPlan(fn: LinkedFunction, args: readonly Value[]): FoundPlan | NoPlan {
    if (Signature.of(args) === null) return { signature: 'objects', reason: 'an argument is an object', inRegions: false }
    const { state } = this.find(fn, args) ?? {}
    // a call makes anew what does not hold any longer
    if (state?.kind === 'compiled' && !state.guards.hold()) this.discard(this.call(fn, args), Signature.of(args)!.match(args)!)
    const entry = this.compiledFor(fn, args)
    const { operators, reason } = this.describe(fn, entry)
    const plan = entry.state.kind === 'compiled' ? entry.state.call.plan : null
    if (plan !== null) return { plan, operators }
    const why = reason ?? 'it is compiled in regions, or changes the module or its arguments'
    return { signature: entry.signature.toString(), reason: why, inRegions: entry.regions !== null }
  }

  /**
   * As findPlan, for a file: what is known to be state is nothing that a plan depends on. Of a method that reads or writes it, and is recorded as a whole, also the state of its
   * entry.
   */
  findForFile(
    fn: LinkedFunction,
    args: readonly Value[],
  ): { readonly found: FoundPlan | NoPlan; readonly state: EntryState | null; readonly operators: PlanInfo['operators'] } {
    const signature = Signature.of(args)
    if (signature !== null && this.parts.haveState && this.find(fn, args) === undefined)
      this.divide(fn, addEntry(this.plansOf(fn), signature, args))
    const found = this.findPlan(fn, args)
    const entry = this.find(fn, args)
    const operators = entry === undefined ? { recorded: 0, optimized: 0 } : this.describe(fn, entry).operators
    return { found, state: entry?.state ?? null, operators }
  }

  /** Calls a method by its plan, which is made where there is none, and notes each kernel call. Throws INVALID_ARGUMENT where there can be no plan. */
  callProfiled(fn: LinkedFunction, args: readonly Value[], profiler: Profiler): Value {
    const { plan } = this.planFor(fn, args)
    return plan.runProfiled(Signature.of(args)!.match(args)!, profiler)
  }

  /** The graph of a method before and after each pass, as text. Runs the method. Throws INVALID_ARGUMENT where it cannot be recorded. */
  explain(fn: LinkedFunction, args: readonly Value[]): string {
    const found = this.record(fn, args)
    const describe = (origin: Origin): string | undefined => this.describeOrigin(origin)
    if ('graph' in found) return compiler().explainPasses(found.graph, describe, this.options)
    const { result, regions } = compiler().recordRegions(this, fn, args)
    this.discard(result, [...reachable(args)])
    if (regions.every(({ isSmall }) => isSmall))
      throw new PtliteError('INVALID_ARGUMENT', `${fn.source.method}() is interpreted: ${this.reasonText(found)}`)
    return regions
      .map(({ title, recording, isSmall }, i) => {
        const heading = `## region ${i + 1} of ${regions.length}: ${title}\n`
        return isSmall ? `${heading}\n${TOO_FEW}\n` : `${heading}\n${compiler().explainPasses(recording.graph, describe, this.options)}`
      })
      .join('\n')
  }

  /** The recorded graph of a method, or what passes make of it, as data. Runs the method. Throws INVALID_ARGUMENT where it cannot be recorded. */
  graph(fn: LinkedFunction, args: readonly Value[], optimized: boolean): ModelGraph {
    const found = this.record(fn, args)
    if (!('graph' in found)) throw new PtliteError('INVALID_ARGUMENT', `${fn.source.method}() is interpreted: ${this.reasonText(found)}`)
    const names = fn.source.schema?.args.slice(1).map(({ name }) => name) ?? []
    const lineOf = (origin: Origin): string | undefined => lastSourceLine(this.describeOrigin(origin))
    return compiler().describeGraph(found.graph, optimized ? this.options : null, names, lineOf)
  }

  /** Every signature that was looked at in the modes that modules are in, by method. */
  plans(): PlanInfo[] {
    return [...this.methods].flatMap(([fn, { entries }]) =>
      entries.flatMap((entry) => [
        this.describe(fn, entry),
        ...[...(entry.regions?.entries() ?? [])].map((part) => this.describe(fn, part)),
      ]),
    )
  }

  /** The recorded graph of a method, for tools that show it. Runs the method. */
  record(fn: LinkedFunction, args: readonly Value[]): Recording | Refusal {
    const signature = Signature.of(args)
    const inputs = signature?.match(args)
    if (inputs === undefined || inputs === null) return { reason: 'an argument is an object', origin: null, temporary: false }
    for (let attempt = 1; ; attempt++) {
      const [result, recording] = this.interpret(fn, inputs, args)
      this.discard(result, inputs)
      if ('graph' in recording || !recording.temporary || attempt === MAX_ATTEMPTS) return recording
    }
  }

  /**
   * The regions of a method that cannot be recorded as a whole, for writers. Runs the method, each time with what `restore` gives attributes back; floats, lists and dicts in
   * these are followed as ints and tensors are.
   */
  recordRegions(fn: LinkedFunction, args: readonly Value[], restore: () => void): RegionRecording[] {
    const { result, regions } = compiler().recordRegions(this, fn, args, restore)
    this.discard(result, [...reachable(args)])
    return regions.map(({ recording }) => recording)
  }

  dispose(): void {
    for (const { entries } of this.everyMethod()) for (const entry of entries.splice(0)) entry.dispose()
    this.byModes.clear()
    this.methods.clear()
  }

  /** Starts a call on another native thread, where a plan is ready for arguments of this form; null elsewhere. */
  replayAsync(fn: LinkedFunction, args: readonly Value[], signal?: AbortSignal, limits?: Limits): Promise<Value> | null {
    if (this.isBusy) return null
    const plans = this.methods.get(fn)
    for (const [i, entry] of plans?.entries.entries() ?? []) {
      const inputs = entry.signature.match(args)
      if (inputs === null) continue
      plans!.touch(i)
      return this.replayEntryAsync(entry, inputs, signal, limits)
    }
    return null
  }

  /** Starts a call by the plan of an entry; null where it has none that holds. */
  replayEntryAsync(
    entry: MethodEntry,
    inputs: readonly Tensor[],
    signal: AbortSignal | undefined,
    limits: Limits | undefined,
  ): Promise<Value> | null {
    const { state } = entry
    if (state.kind !== 'compiled' || !state.guards.hold()) return null
    const result = state.call.runAsync(inputs, signal, limits)
    if (result !== null) entry.replays++
    return result
  }

  /** What is known of calls of a method. */
  plansOf(fn: LinkedFunction): SignatureList<MethodEntry> {
    let plans = this.methods.get(fn)
    if (plans === undefined) this.methods.set(fn, (plans = this.newPlans()))
    return plans
  }

  /** For a method that was not called before. */
  protected newPlans(): SignatureList<MethodEntry> {
    return new SignatureList()
  }

  private callNew(fn: LinkedFunction, plans: SignatureList<MethodEntry>, args: readonly Value[], hash?: number): Value {
    if (this.mode !== 'eager' && plans.rests()) return this.interpretCall(fn, args)
    const other = this.mode === 'off' ? null : this.forOtherInts(fn, plans, args)
    if (other !== null) return other.regions!.record(args)
    // the first signature of a method is likely to come again; others have to show it
    const due = this.mode === 'eager' || (this.mode === 'auto' && (plans.entries.length === 0 || plans.isDue(hash ?? signatureHash(args))))
    const signature = due ? Signature.of(args) : null
    if (signature === null) {
      if (due) plans.noteFutile()
      return this.interpretOnly(fn, plans, args)
    }
    const entry = addEntry(plans, signature, args)
    return this.callEntry(fn, entry, signature.match(args)!, args)
  }

  /**
   * An entry for calls of a form that differ in ints alone, of which there have been some; null where there have not, and where there is
   * such an entry.
   */
  private forOtherInts(fn: LinkedFunction, plans: SignatureList<MethodEntry>, args: readonly Value[]): MethodEntry | null {
    if (!args.some((arg) => typeof arg === 'number')) return null
    for (const like of plans.entries) {
      if (like.signature.varying.length > 0) return null
      const places = like.signature.differingInts(args)
      if (places === null || ++like.otherInts < ENOUGH_INTS) continue
      const entry = new Entry<Signature, MethodRegions>(Signature.of(args, places)!, signatureHash(args))
      plans.add(entry)?.dispose()
      this.divide(fn, entry)
      return entry
    }
    return null
  }

  private callEntry(fn: LinkedFunction, entry: MethodEntry, inputs: readonly Tensor[], args: readonly Value[]): Value {
    const { state } = entry
    if (state.kind === 'compiled' && state.guards.hold()) {
      entry.replays++
      return this.replay(fn, state.call, inputs, args)
    }
    const begin = milliseconds()
    try {
      // plans tell inputs from constants by where they lie
      if (state.kind === 'recorded' && state.recording.guards.shareMemory(inputs)) return this.interpretCall(fn, args)
      if (state.kind === 'recorded' && state.recording.guards.hold()) return this.compileEntry(fn, entry, state.recording, inputs, args)
      entry.release()
      if (state.kind === 'refused' || !this.parts.haveState) return this.recordEntry(fn, entry, inputs, args)
      // what has changed may have been found to be state
      entry.regions = compiler().methodRegions(this, entry, fn)
      return entry.regions.record(args)
    } finally {
      entry.cost += milliseconds() - begin
    }
  }

  private interpretOnly(fn: LinkedFunction, plans: SignatureList<MethodEntry>, args: readonly Value[]): Value {
    const begin = milliseconds()
    try {
      return this.interpretCall(fn, args)
    } finally {
      plans.note(milliseconds() - begin)
    }
  }

  private replay(fn: LinkedFunction, call: Call, inputs: readonly Tensor[], args: readonly Value[]): Value {
    if (!call.accepts(inputs)) return this.interpretCall(fn, args)
    try {
      return call.run(inputs)
    } catch (error) {
      // nothing was changed yet: the interpreter repeats the error and says where in the model it is
      if (error instanceof PtliteError && !endsCall(error)) return this.interpretCall(fn, args)
      throw error
    }
  }

  private recordEntry(fn: LinkedFunction, entry: MethodEntry, inputs: readonly Tensor[], args: readonly Value[]): Value {
    const [result, found] = this.interpret(fn, inputs, args)
    // a call that fails says nothing of others
    entry.attempts++
    if ('graph' in found) {
      entry.state =
        entry.attempts > MAX_ATTEMPTS
          ? { kind: 'refused', reason: 'attributes that it reads change between calls' }
          : { kind: 'recorded', recording: found }
      entry.recordedOperators = found.graph.nodes.length
    } else {
      entry.state = { kind: 'refused', reason: this.reasonText(found) }
      if (!found.temporary || entry.attempts === MAX_ATTEMPTS) {
        // what cannot be recorded as a whole may be in pieces
        this.divide(fn, entry)
      }
    }
    this.noteChange()
    if (this.mode === 'eager' && entry.state.kind === 'recorded' && !entry.state.recording.guards.shareMemory(inputs))
      this.discard(this.compileEntry(fn, entry, entry.state.recording, inputs, args), inputs)
    return result
  }

  /** From now on its calls are recorded in regions. */
  divide(fn: LinkedFunction, entry: MethodEntry): void {
    entry.attempts = 0
    entry.regions = compiler().methodRegions(this, entry, fn)
  }

  interpretCall(fn: LinkedFunction, args: readonly Value[]): Value {
    return this.script.call(fn, args, this.runOptions)
  }

  noteChange(): void {
    this.revision++
  }

  private interpret(fn: LinkedFunction, inputs: readonly Tensor[], args: readonly Value[]): [Value, Recording | Refusal] {
    const recorder = recorderOf(this.script, this.script.root, args, inputs)
    const result = this.script.call(fn, args, { ...this.runOptions, recorder })
    return [result, recorder.finish(result)]
  }

  private compileEntry(
    fn: LinkedFunction,
    entry: MethodEntry,
    { graph, guards }: Recording,
    inputs: readonly Tensor[],
    args: readonly Value[],
  ): Value {
    try {
      const { call, result } = this.compileGraph(graph, inputs, true)
      entry.state = { kind: 'compiled', call, guards }
      compiler().letGoOfSources(guards, this.constantsInUse())
      return result
    } catch (error) {
      if (!(error instanceof PtliteError) || error.code === 'ABORTED') throw error
      // where the arguments are at fault the interpreter says so, and the recording stays
      const result = this.interpretCall(fn, args)
      entry.state = { kind: 'refused', reason: `compilation failed: ${error.message}` }
      entry.attempts = MAX_ATTEMPTS
      return result
    }
  }

  compileGraph(graph: Graph, inputs: readonly Tensor[], outside: boolean): { readonly call: CompiledCall; readonly result: Value } {
    this.noteChange()
    this.constants ??= compiler().newSharedConstants()
    return compiler().withSharedConstants(this.constants, () => compiler().compileCall(graph, inputs, this.options, outside))
  }

  compiledRegion({ guards }: RegionRecording): void {
    compiler().letGoOfSources(guards, this.constantsInUse())
  }

  /** Releases a result that nobody will see, but for what the module or the caller holds. */
  discard(result: Value, inputs: readonly Tensor[]): void {
    const kept = reachable([this.script.root, ...inputs, ...this.script.functions.flatMap((f) => f.source.constants)])
    visitTensors(result, (t) => {
      if (!kept.has(t)) t.release()
    })
  }

  private describe(fn: LinkedFunction, entry: Described): PlanInfo {
    return describeEntry(
      fn.source.method,
      entry,
      this.compiled().map(({ call }) => call),
      (refusal) => this.reasonText(refusal),
    )
  }

  private compiled(): { readonly call: Call; readonly guards: Guards }[] {
    return this.everyMethod().flatMap(({ entries }) =>
      entries.flatMap((entry) => [...plansOf(entry), ...[...(entry.regions?.entries() ?? [])].flatMap(plansOf)]),
    )
  }

  /** What plans read. */
  constantsInUse(): Storage[] {
    const aside = this.everyMethod().flatMap(({ entries }) => entries.flatMap((entry) => entry.aside?.call.constants() ?? []))
    return [...aside, ...this.compiled().flatMap(({ call }) => call.constants())]
  }

  reasonText({ reason, origin }: Pick<Refusal, 'reason' | 'origin'>): string {
    if (origin === null) return reason
    return `${reason}\n${this.placeText(origin)}`
  }

  /** Where a place of the model is, for people. */
  placeText(origin: Origin): string {
    return this.describeOrigin(origin) ?? `  ${origin.functionName}, instruction ${origin.pc}`
  }

  /** TorchScript's stack at a place of the model, where the file has debug information: that of operators, and of what follows them. */
  describeOrigin({ functionName, pc }: Origin): string | undefined {
    for (let at = pc; at >= 0; at--) {
      const trace = this.script.file.debug?.stackTraceAt(functionName, at)
      if (trace !== undefined) return trace
    }
    return undefined
  }
}

/** Calls of a form with other ints, before one recording is tried for all. */
const ENOUGH_INTS = 4

const TOO_FEW = 'interpreted: there are too few operators for a plan'

function isHopeless({ state, attempts }: MethodEntry): boolean {
  return state.kind === 'refused' && attempts >= MAX_ATTEMPTS
}

/** The same arguments in other lists, tuples and dicts; what occurs twice does so in the copy. */
function copyContainers(args: readonly Value[]): Value[] {
  const copies = new Map<Value, Value>()
  const copy = (value: Value): Value => {
    if (!isContainer(value)) return value
    const known = copies.get(value)
    if (known !== undefined) return known
    if (value instanceof Tuple) return new Tuple(value.items.map(copy), value.fields)
    const made: Value[] | Map<DictKey, Value> = Array.isArray(value) ? [] : new Map<DictKey, Value>()
    copies.set(value, made)
    if (Array.isArray(made)) {
      for (const item of value as Value[]) made.push(copy(item))
      const type = listType(value as Value[])
      if (type !== undefined) setListType(made, type)
    } else for (const [key, item] of value as Map<DictKey, Value>) made.set(key, copy(item))
    return made
  }
  return args.map(copy)
}

/** A plan and what it depends on, where there is one. */
function plansOf({ state }: Pick<MethodEntry, 'state'>): { readonly call: Call; readonly guards: Guards }[] {
  if (state.kind === 'compiled') return [state]
  return state.kind === 'region' && state.call !== null ? [{ call: state.call, guards: state.region.guards }] : []
}

/** An entry for what was not called before. */
export function addEntry(plans: SignatureList<MethodEntry>, signature: Signature, args: readonly Value[]): MethodEntry {
  const entry = new Entry<Signature, MethodRegions>(signature, signatureHash(args))
  plans.add(entry)?.dispose()
  return entry
}
