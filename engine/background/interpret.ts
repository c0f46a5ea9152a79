import type { Outcome, PassOptions, PlanInfo, TieredModule } from '../../compiler/index.js'
import { throwIfAborted } from '../../runtime/aborted.js'
import { PtliteError } from '../../runtime/error.js'
import type { Limits } from '../../runtime/limits.js'
import { milliseconds } from '../../runtime/platform.js'
import type { LinkedFunction } from '../../program/linked.js'
import { reachable } from '../../program/reach.js'
import type { ScriptModule } from '../../interpreter/script-module.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { discardPages, endLease, lease, Storage } from '../../runtime/tensor/storage.js'
import type { Value } from '../../runtime/tensor/value.js'
import { yieldToEventLoop } from '../../runtime/event-loop.js'
import { receivePlan } from './plan-transfer.js'
import { type CodeOnly, type Failure, fillMarks, type Reply } from './messages.js'
import type { Node } from './nodes.js'
import { hold } from '../hold.js'
import { interpretedAgain } from '../interpreted-again.js'
import { ObjectTable } from './object-table.js'
import { type BackgroundStep, BackgroundSteps, INTERPRET, type ReceivedPlan } from './steps.js'
import { BackgroundThread, NotBegun } from './thread.js'

let thread: BackgroundThread | undefined
let nextModule = 1
const scripts = new Map<number, WeakRef<ScriptModule>>()

/** What is to be told to the background thread when a module or a plan was collected that nobody disposed of. */
const collected = /* @__PURE__ */ new FinalizationRegistry<() => void>((tell) => tell())

function currentThread(): BackgroundThread {
  if (thread?.alive !== true) {
    thread = new BackgroundThread((module, text) => {
      scripts.get(module)?.deref()?.warn(text)
    })
  }
  return thread
}

/** A module's state as both threads know it. */
interface Shared {
  readonly thread: BackgroundThread
  readonly module: number
  readonly state: ObjectTable
  /** Memory of attributes that the background thread made and this one has taken over. */
  readonly moved: Set<number>
  unload(): void
}

/** Interprets methods of one module in the background thread, one call after the other. */
export class BackgroundInterpreter {
  private shared: Shared | undefined
  private last: Promise<unknown> = Promise.resolve()
  private disposed = false
  /** Of methods that the background thread carries out in regions; places in the model are marks. */
  plans: readonly PlanInfo[] = []

  private readonly steps: BackgroundSteps

  constructor(
    private readonly script: ScriptModule,
    private readonly passes: PassOptions,
    private readonly tiers: TieredModule,
  ) {
    this.steps = new BackgroundSteps(tiers)
  }

  /**
   * Calls `fn` in the background. Changes that it makes to attributes, lists and dicts are made here when it is done. Rejects with
   * ABORTED once that is aborted, and with LIMIT_EXCEEDED beyond `limits`, after the block of the kernel or the compilation that runs then.
   */
  call(fn: LinkedFunction, args: readonly Value[], signal?: AbortSignal, limits?: Limits): Promise<Value> {
    return this.inTurn(fn, args, () => this.steps.next(fn, args, signal, limits), signal, limits)
  }

  /** As `call`, without plans. */
  interpret(fn: LinkedFunction, args: readonly Value[], signal?: AbortSignal, limits?: Limits): Promise<Value> {
    return this.inTurn(fn, args, () => INTERPRET, signal, limits)
  }

  /** Calls `fn` until nothing is left to find out there for arguments of this form. */
  async compile(fn: LinkedFunction, args: readonly Value[], signal?: AbortSignal, limits?: Limits): Promise<void> {
    const step = (): BackgroundStep | null => this.steps.compilation(fn, args)
    while (step() !== null) {
      // another call may have compiled it before the turn of this one comes
      const turn = (): BackgroundStep => step() ?? { kind: 'replay', result: Promise.resolve(null) }
      this.tiers.discard(await this.inTurn(fn, args, turn, signal, limits), [...reachable(args)])
    }
  }

  /** `step` is asked when it is the call's turn. */
  private inTurn(
    fn: LinkedFunction,
    args: readonly Value[],
    step: () => BackgroundStep,
    signal?: AbortSignal,
    limits?: Limits,
  ): Promise<Value> {
    const letGo = hold(args)
    const turn = this.last
      .then(() => {
        throwIfAborted(signal)
        const next = step()
        if (next.kind !== 'replay') return this.run(fn, args, next, signal, limits)
        return interpretedAgain(next.result, () => this.run(fn, args, INTERPRET, signal, limits))
      })
      .finally(letGo)
    this.last = turn.catch(() => undefined)
    return turn
  }

  /** The background thread forgets the module. */
  dispose(): void {
    this.disposed = true
    this.forget()
  }

  private forget(): void {
    if (this.shared === undefined) return
    this.shared.unload()
    collected.unregister(this)
    this.shared = undefined
  }

  private async run(
    fn: LinkedFunction,
    args: readonly Value[],
    step: Exclude<BackgroundStep, { kind: 'replay' }>,
    signal: AbortSignal | undefined,
    limits: Limits | undefined,
  ): Promise<Value> {
    for (let suspected = false; ;) {
      const thread = currentThread()
      const leave = thread.use()
      try {
        return await this.runIn(await this.load(thread), fn, args, step, signal, limits)
      } catch (error) {
        // the thread ended in a run of another module
        if (!(error instanceof NotBegun)) throw error
        if (error.isNext && suspected) throw error.reason ?? error
        suspected ||= error.isNext
      } finally {
        leave()
      }
    }
  }

  private async runIn(
    shared: Shared,
    fn: LinkedFunction,
    args: readonly Value[],
    step: Exclude<BackgroundStep, { kind: 'replay' }>,
    signal: AbortSignal | undefined,
    limits: Limits | undefined,
  ): Promise<Value> {
    // it may have taken a while to come here
    throwIfAborted(signal)
    const { thread, module, state, moved } = shared
    // of what is done with the tables below, all or nothing may be known to both threads
    let agreed = false
    // what the run makes is read here
    const letGo = thread.hold()
    const used: Storage[] = []
    // what kernels look at
    const word = Storage.allocate(4)
    const { address: cancelAddress } = word
    const cancel = new SharedArrayBuffer(4)
    const onAbort = (): void => {
      Atomics.store(new Int32Array(cancel), 0, 1)
      kernels.mem_write({ address: cancelAddress, bytes: 4 }, Int32Array.of(1))
    }
    let arrived: (() => void) | undefined
    let packed: readonly number[] = []
    const begin = milliseconds()
    try {
      kernels.mem_fill({ address: cancelAddress, bytes: 4, value: 0 })
      const { modes, trainingSets } = this.script
      const stateNodes: Node[] = []
      state.changes(stateNodes, [...this.roots(), ...args])
      const run = new ObjectTable(1, receiveCopy, state)
      const nodes: Node[] = []
      const encoded = args.map((arg) => run.send(arg, nodes))
      for (const storage of [...state.storages(), ...run.storages()]) {
        lease(storage)
        used.push(storage)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      const reply = await thread.ask({
        kind: 'run',
        module,
        method: fn.source.name,
        lastRowOf: fn.source.lastRowOf,
        stateNodes,
        nodes,
        args: encoded,
        cancel,
        cancelAddress,
        limits,
        how: step.kind,
        wantsPlan: step.kind === 'regions' && step.wantsPlan,
        modes,
      })
      if (reply.kind === 'failed') throw errorOf(reply.failure, this.script)
      if (reply.kind !== 'result') throw new PtliteError('INTERNAL', `expected a result, found ${reply.kind}`)
      packed = reply.packed
      state.receive(reply.stateNodes, run)
      if (reply.stateNodes.length > 0) this.script.attributeWrites++
      // the mode was set while the run was under way
      if (this.script.trainingSets !== trainingSets) this.script.repeatTraining()
      run.receive(reply.nodes)
      agreed = true
      const result = run.valueOf(reply.value)
      this.plans = reply.plans ?? this.plans
      if (step.kind === 'compile') {
        await yieldToEventLoop()
        arrived = this.arrivalOf(reply, (outcome) => step.done(outcome), shared, signal)
      } else if (step.kind === 'regions') {
        // plans are told where something was found out
        const spent = reply.plans === null ? 0 : milliseconds() - begin
        if (reply.outcome === null) step.done(spent, null)
        else arrived = this.arrivalOf(reply, (outcome) => step.done(spent, outcome), shared, signal)
      }
      if (reply.failure !== null) {
        throwIfAborted(signal)
        throw errorOf(reply.failure, this.script)
      }
      return result
    } finally {
      signal?.removeEventListener('abort', onAbort)
      word.free()
      for (const storage of used) endLease(storage)
      for (const id of packed) {
        const storage = state.objectOf(id)
        if (storage instanceof Storage) discardPages(storage)
      }
      const fresh = [...state.receivedStorages()].filter(([id]) => !moved.has(id))
      for (const [id] of fresh) moved.add(id)
      for (const id of state.grown) fresh.push([id, state.objectOf(id) as Storage])
      state.grown.clear()
      thread.tell({ kind: 'done', module, moved: fresh.map(([id, storage]) => [id, storage.startAddress] as const) })
      state.prune(this.roots())
      if (!agreed) this.forget()
      letGo()
      if (arrived !== undefined) {
        await yieldToEventLoop()
        // what the plan does not need can go once the memory is no longer in use
        arrived()
      }
    }
  }

  /** Takes over the outcome of a call that was to be compiled, and returns what is left to do about it. */
  private arrivalOf(
    { outcome, failure }: Extract<Reply, { kind: 'result' }>,
    done: (outcome: Outcome<ReceivedPlan>) => void,
    { thread, module, state }: Shared,
    signal: AbortSignal | undefined,
  ): () => void {
    if (failure !== null || outcome === null) {
      const aborted = signal?.aborted === true
      return () => done({ kind: 'failed', aborted })
    }
    if (outcome.kind !== 'plan') return () => done(outcome)
    const drop = (): void => {
      thread.tell({ kind: 'drop', module, plan: outcome.plan.id })
    }
    // attributes or weights that this thread has changed meanwhile are not those that the plan was made of
    const received = state.unchanged() ? receivePlan(outcome.plan, this.script, state) : null
    if (received === null) {
      drop()
      return () => done({ kind: 'refused', reason: 'attributes or weights changed meanwhile', origin: null, temporary: true })
    }
    const { plan } = received
    const letGo = thread.hold()
    const end = (): void => {
      drop()
      letGo()
    }
    collected.register(plan, end, plan)
    plan.whenEnded(() => {
      collected.unregister(plan)
      end()
    })
    return () => done({ ...outcome, plan: received })
  }

  private roots(): Value[] {
    return [this.script.root, ...this.script.functions.flatMap((f) => f.source.constants)]
  }

  private async load(thread: BackgroundThread): Promise<Shared> {
    if (this.shared?.thread === thread) return this.shared
    this.forget()
    this.plans = []
    // the thread was just started
    await yieldToEventLoop()
    const { script } = this
    const module = nextModule++
    scripts.set(module, new WeakRef(script))
    const state = new ObjectTable(1, receiveCopy)
    const nodes: Node[] = []
    const root = state.send(script.root, nodes)
    const constants = script.functions.map((fn) => fn.source.constants.map((c) => state.send(c, nodes)))
    const { format, operatorVersion, bytecodeVersion } = script.file
    const reply = await thread.ask({
      kind: 'load',
      module,
      functions: script.functions.map((fn) => codeOnly(fn)),
      constants,
      format,
      operatorVersion,
      bytecodeVersion,
      maxIterations: script.options.maxIterations,
      passes: this.passes,
      root,
      nodes,
    })
    const unload = (): void => {
      thread.tell({ kind: 'unload', module })
      scripts.delete(module)
    }
    if (reply.kind === 'loaded' && reply.failure !== null) {
      unload()
      throw errorOf(reply.failure, this.script)
    }
    if (this.disposed) {
      unload()
      throw new PtliteError('DISPOSED', 'the module was disposed')
    }
    collected.register(this, unload, this)
    return (this.shared = { thread, module, state, moved: new Set(), unload })
  }
}

/** null in pages, which have no such thread (web/platform/unsupported.ts). */
export function interpretInBackground(script: ScriptModule, passes: PassOptions, tiers: TieredModule): BackgroundInterpreter | null {
  return new BackgroundInterpreter(script, passes, tiers)
}

function codeOnly({ source }: LinkedFunction): CodeOnly {
  const { name, method, className, code, operators, types, registerSize, schema } = source
  const args = schema?.args.map((arg) => ({ name: arg.name, type: arg.type, default: undefined }))
  return { name, method, className, code, operators, types, registerSize, schema: args === undefined ? null : { args, returns: [] } }
}

/** Memory of this thread with what the background thread made. */
function receiveCopy(address: number, bytes: number): Storage {
  // given back already
  if (address === 0) return Storage.borrow(0, bytes, null)
  const storage = Storage.allocate(bytes)
  if (bytes > 0) kernels.mem_copy({ to: storage.address, from: address, bytes })
  storage.watch()
  return storage
}

function errorOf({ code, message }: Failure, { file }: ScriptModule): PtliteError {
  const place = (functionName: string, pc: number): string =>
    file.debug?.stackTraceAt(functionName, pc) ?? `  ${functionName}, instruction ${pc}`
  return new PtliteError(code, fillMarks(message, place))
}
