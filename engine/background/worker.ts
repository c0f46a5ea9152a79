import '../../chunks/all.js'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { callAndCompile, letGoOfSources, newSharedConstants } from '../../compiler/functions.js'
import {
  type MadePlan,
  type Origin,
  type Outcome,
  type PassOptions,
  type PlanInfo,
  type SharedConstants,
  TieredModule,
} from '../../compiler/index.js'
import type { EntryState } from '../../compiler/entry.js'
import type { MethodEntry } from '../../compiler/regions/method-regions.js'
import { wholeOf } from '../../compiler/regions/whole-plan.js'
import { Signature } from '../../compiler/record/signature.js'
import { SignatureList } from '../../compiler/signature-list.js'
import { addEntry } from '../../compiler/tier.js'
import type { LinkedFunction } from '../../program/linked.js'
import { PtliteError } from '../../runtime/error.js'
import { withinLimits } from '../../runtime/native/budget.js'
import { ScriptModule } from '../../interpreter/script-module.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { setNativeLibrary } from '../../runtime/native/library.js'
import { trimMemory, useMemory } from '../../runtime/native/memory.js'
import { dropDerived, endLease, lease, PagesElsewhere, Storage } from '../../runtime/tensor/storage.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { ScriptObject, Value } from '../../runtime/tensor/value.js'
import { type SentPlan, sendOutcome } from './plan-transfer.js'
import {
  type DoneRequest,
  type DropRequest,
  type Failure,
  type LoadRequest,
  placeMark,
  type Reply,
  type Request,
  type RunRequest,
  type WorkerStart,
} from './messages.js'
import { nativeMemory } from './native-memory.js'
import type { Node } from './nodes.js'
import { ObjectTable } from './object-table.js'

/**
 * The other side of `Module.run`: a thread that interprets methods over the memory of the main thread. Weights and
 * arguments are used where they are; what a run makes is kept until the main thread has copied it.
 */
interface Loaded {
  readonly script: ScriptModule
  readonly state: ObjectTable
  /** Objects of the last run, which go at `done`. */
  run: ObjectTable | null
  /** What the compiler made of its weights. */
  readonly constants: SharedConstants
  readonly passes: PassOptions
  /** Methods that have no plan as a whole. */
  readonly regions: RegionsOfModule
  /** Plans that the main thread has, by number. */
  readonly plans: Map<number, SentOff>
  /** The main thread has disposed of it; it goes with its last plan. */
  unloaded: boolean
}

/** What this thread has packed of the other one's memory, since that was told. */
const lent = new PagesElsewhere()
const borrow = (address: number, bytes: number): Storage => Storage.borrow(address, bytes, lent)

/** `isOfRegion`: the module's own, which this thread disposes of by itself. */
interface SentOff {
  readonly made: MadePlan
  readonly isOfRegion: boolean
}

/** The worker has no debug information: the main thread says where in the model a place is. */
class RegionsOfModule extends TieredModule {
  private sent = 0

  /** The main thread has decided what is worth a plan. */
  protected override newPlans(): SignatureList<MethodEntry> {
    return new SignatureList(undefined, Infinity)
  }

  override describeOrigin({ functionName, pc }: Origin): string {
    return placeMark(functionName, pc)
  }

  /** Calls a method that was found to have no plan as a whole, and that is recorded in regions from its first call on. */
  callInRegions(fn: LinkedFunction, args: readonly Value[]): Value {
    const signature = this.isBusy || this.find(fn, args) !== undefined ? null : Signature.of(args)
    if (signature !== null) this.divide(fn, addEntry(this.plansOf(fn), signature, args))
    return this.call(fn, args)
  }

  /** What is known of calls with arguments of this form; null for nothing. */
  stateOf(fn: LinkedFunction, args: readonly Value[]): EntryState | null {
    return this.find(fn, args)?.state ?? null
  }

  /** What `plans` gives, where that may have changed since it was last asked for. */
  news(): PlanInfo[] | null {
    if (this.sent === this.revision) return null
    this.sent = this.revision
    return this.plans()
  }
}

class Server {
  private readonly modules = new Map<number, Loaded>()
  private nextPlan = 1

  constructor(
    private readonly port: MessagePort,
    begun: Int32Array,
  ) {
    port.on('message', (request: Request) => {
      if (request.kind === 'load' || request.kind === 'run') Atomics.add(begun, 0, 1)
      const failure = failureOf(() => {
        this.handle(request)
      })
      if (failure !== null && request.kind === 'run') this.reply({ kind: 'failed', failure })
    })
  }

  private handle(request: Request): void {
    switch (request.kind) {
      case 'load':
        this.reply({ kind: 'loaded', failure: failureOf(() => this.load(request)) })
        return
      case 'run':
        this.run(request)
        return
      case 'done':
        this.done(request)
        return
      case 'drop':
        this.drop(request)
        return
      case 'unload': {
        const loaded = this.modules.get(request.module)
        if (loaded === undefined) return
        loaded.unloaded = true
        loaded.regions.dispose()
        this.unloadOnceUnused(request.module, loaded)
        return
      }
      case 'retire':
        this.retire()
    }
  }

  private drop({ module, plan }: DropRequest): void {
    const loaded = this.modules.get(module)
    const sent = loaded?.plans.get(plan)
    if (loaded === undefined || sent === undefined) return
    loaded.plans.delete(plan)
    const { call } = sent.made
    const constants = call.constants()
    if (!sent.isOfRegion) call.dispose()
    for (const storage of constants) endLease(storage)
    this.unloadOnceUnused(module, loaded)
  }

  private unloadOnceUnused(module: number, { state, plans, run, unloaded }: Loaded): void {
    // the main thread reads what the last run has made until it says that it is done
    if (!unloaded || plans.size > 0 || run !== null) return
    // packed weights of this thread; what is borrowed stays
    for (const storage of state.storages()) storage.free()
    this.modules.delete(module)
  }

  /** Gives back what no plan reads. The plans' memory outlives this thread: it has an owner that the main thread gives up after the last plan. */
  private retire(): void {
    this.port.close()
    const plans = [...this.modules.values()].flatMap((loaded) => [...loaded.plans.values()])
    const kept = new Set(plans.flatMap(({ made }) => made.call.constants()))
    for (const { state, regions } of this.modules.values()) {
      regions.dispose()
      for (const storage of state.storages()) {
        dropDerived(storage, kept)
        Storage.setDerived(storage, undefined)
        if (!kept.has(storage)) storage.free()
      }
    }
    trimMemory()
  }

  private reply(reply: Reply): void {
    this.port.postMessage(reply)
  }

  private load({
    module,
    functions,
    constants,
    format,
    operatorVersion,
    bytecodeVersion,
    maxIterations,
    passes,
    root,
    nodes,
  }: LoadRequest): void {
    const state = new ObjectTable(-1, borrow)
    state.receive(nodes)
    const script = ScriptModule.ofProgram(
      {
        format,
        bytecodeVersion,
        operatorVersion,
        functions: functions.map((fn, i) => ({ ...fn, constants: constants[i]!.map((c) => state.valueOf(c)) })),
        root: state.valueOf(root) as ScriptObject,
        extraFiles: new Map(),
        // the main thread says where in the model that is
        debug: { stackTraceAt: placeMark },
        close: () => undefined,
      },
      {
        ...(maxIterations === undefined ? {} : { maxIterations }),
        onWarning: (text) => {
          this.reply({ kind: 'warning', module, text })
        },
      },
    )
    const shared = newSharedConstants()
    const regions = new RegionsOfModule(script, 'auto', passes, shared)
    this.modules.set(module, { script, state, run: null, constants: shared, passes, regions, plans: new Map(), unloaded: false })
  }

  private run(request: RunRequest): void {
    const loaded = this.modules.get(request.module)
    if (loaded === undefined) throw new PtliteError('DISPOSED', 'the module was disposed')
    const { script, state, passes, regions } = loaded
    state.receive(request.stateNodes)
    if (request.stateNodes.length > 0) script.attributeWrites++
    regions.enterModes(request.modes)
    const run = new ObjectTable(-1, borrow, state)
    loaded.run = run
    let value: Value = null
    let args: Value[] = []
    let outcome: Outcome<MadePlan> | null = null
    const failure = failureOf(() => {
      run.receive(request.nodes)
      const named = script.functions.find((f) => f.source.name === request.method)!
      const fn = request.lastRowOf === undefined ? named : script.lastRow(named, request.lastRowOf)!
      args = request.args.map((arg) => run.valueOf(arg))
      const carryOut = (): void => {
        if (request.how === 'interpret') value = script.call(fn, args)
        else if (request.how === 'regions') {
          value = regions.callInRegions(fn, args)
          if (request.wantsPlan) outcome = this.planOf(loaded, fn, args)
        } else ({ value, outcome } = callAndCompile(script, fn, args, {}, passes, loaded.constants))
      }
      withinLimits(request.limits, carryOut, { flag: new Int32Array(request.cancel), address: request.cancelAddress })
    })
    const stateNodes: Node[] = []
    const roots = [...rootsOf(script), ...args, value]
    state.changes(stateNodes, roots, run)
    const nodes: Node[] = []
    run.changes(nodes, roots)
    const packed = [...lent].flatMap((storage) => state.numberOf(storage) ?? [])
    const reply = { kind: 'result', failure, value: run.send(value, nodes), stateNodes, nodes, packed, plans: regions.news() } as const
    const kept = this.keep(outcome, loaded, request.how === 'regions')
    try {
      this.reply({ ...reply, outcome: kept })
    } catch (error) {
      // the main thread will never drop it
      if (kept?.kind === 'plan') this.drop({ kind: 'drop', module: request.module, plan: kept.plan.id })
      throw error
    } finally {
      lent.clear()
    }
  }

  /** Keeps a plan for the main thread, which drops it one day. */
  private keep(outcome: Outcome<MadePlan> | null, { state, plans }: Loaded, isOfRegion: boolean): Outcome<SentPlan> | null {
    if (outcome?.kind !== 'plan') return outcome
    const id = this.nextPlan++
    const sent = sendOutcome(outcome, id, state)
    if (sent.kind !== 'plan') {
      if (!isOfRegion) outcome.plan.call.dispose()
      return sent
    }
    const { call, guards } = outcome.plan
    plans.set(id, { made: outcome.plan, isOfRegion })
    // the main thread reads them until it drops the plan, whatever becomes of the weights that they were made of
    for (const storage of call.constants()) lease(storage)
    // regions have let go of theirs
    if (isOfRegion) return sent
    letGoOfSources(
      guards,
      [...plans.values()].flatMap(({ made }) => made.call.constants()),
    )
    return sent
  }

  /** The plan of a method that was carried out in regions, where it has no others and the main thread has it not yet. */
  private planOf({ script, regions, plans }: Loaded, fn: LinkedFunction, args: readonly Value[]): Outcome<MadePlan> | null {
    const made = planOfAll(script, regions.stateOf(fn, args), args)
    // the other thread takes guards on what the module holds now
    if (typeof made === 'string' || !made.guards.hold() || [...plans.values()].some((sent) => sent.made.call === made.call)) return null
    // calls are the main thread's from now on
    made.call.plan?.rest()
    return { kind: 'plan', plan: made, recorded: 0, operators: made.call.operators, choices: made.call.choices }
  }

  private done({ module, moved }: DoneRequest): void {
    const loaded = this.modules.get(module)
    if (loaded === undefined) return
    for (const [id, address] of moved) {
      const old = loaded.state.objectOf(id)
      if (!(old instanceof Storage)) continue
      if (loaded.state.made().has(id)) loaded.state.replaceStorage(id, borrow(address, old.byteLength))
      // what grew here is the main thread's again
      else if (old.owned) Storage.takeOver(old, borrow(address, old.byteLength))
    }
    for (const storage of loaded.run?.receivedStorages().values() ?? []) if (storage.owned) storage.free()
    for (const object of loaded.run?.made().values() ?? []) if (object instanceof Tensor) object.release()
    loaded.run = null
    loaded.state.prune(rootsOf(loaded.script))
    this.unloadOnceUnused(module, loaded)
  }
}

/** What outlives every run. */
function rootsOf({ root, functions }: ScriptModule): Value[] {
  return [root, ...functions.flatMap((fn) => fn.source.constants)]
}

/** The plan of a whole method; why there is none. */
function planOfAll(script: ScriptModule, state: EntryState | null, args: readonly Value[]): MadePlan | string {
  if (state?.kind !== 'compiled') return wholeOf(script, state, args)
  const { call, guards } = state
  const { plan, kept } = call
  return plan === null ? (call.reason ?? '') : { call, plan, guards, state: null, kept }
}

function failureOf(action: () => void): Failure | null {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof PtliteError) return { code: error.code, message: error.message }
    return { code: 'INTERNAL', message: String(error) }
  }
}

const start = workerData as WorkerStart | null
if (parentPort !== null && start?.ptlite === 'background') {
  if (start.nativeLibrary !== undefined) setNativeLibrary(start.nativeLibrary)
  kernels.owner_enter({ owner: start.owner })
  useMemory(nativeMemory)
  new Server(parentPort, new Int32Array(start.begun))
}
