import { PtliteError } from '../../runtime/error.js'
import { Activation } from '../../runtime/interpreter/activation.js'
import type { LinkedFunction, LinkedOperator } from '../../runtime/interpreter/program.js'
import type { RunOptions } from '../../runtime/interpreter/run.js'
import type { RunRecorder } from '../../runtime/interpreter/recorder.js'
import type { ScriptModule } from '../../runtime/module/script-module.js'
import type { Stack } from '../../runtime/tensor/stack.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { CompiledCall } from '../compiled-call.js'
import { Entry, MAX_ATTEMPTS } from '../entry.js'
import type { Graph } from '../graph/graph.js'
import type { ModuleParts } from '../record/module-parts.js'
import { originOf, type Refusal } from '../record/recorder.js'
import { type RegionRecorder, regionRecorderOf } from '../record/region-recorder.js'
import type { RegionRecording } from '../record/region.js'
import { StateDescription, type StateParts } from '../record/state-signature.js'
import { signatureHash } from '../record/signature-hash.js'
import { advance, type Advance, inputsOf, matchStart } from './region.js'
import { endOf, type Instruction, type Location, type RegionEntry, type RegionTable } from './table.js'

/** What regions need of the module that they are of. */
export interface RegionHost {
  readonly script: ScriptModule
  readonly parts: ModuleParts
  /** Of every interpreted call. A profiler among them is asked for the time before each region too. */
  readonly runOptions: RunOptions
  interpretCall(fn: LinkedFunction, args: readonly Value[]): Value
  /** What tools show of the module has changed. */
  noteChange(): void
  compileGraph(graph: Graph, inputs: readonly Tensor[]): { readonly call: CompiledCall; readonly result: Value }
  /** A plan was made that reads what `region` guards. */
  compiledRegion(region: RegionRecording): void
  reasonText(refusal: Pick<Refusal, 'reason' | 'origin'>): string
}

/** What a region's plan is kept in. */
type Kept = Pick<RegionEntry, 'state' | 'replays' | 'attempts' | 'cost'>

/** A region with a state that it fits. */
export interface Next {
  readonly entry: Kept
  readonly region: RegionRecording
  readonly parts: StateParts
}

/** One call of a method that is carried out by regions, with the interpreter in between. */
export class RegionRun {
  readonly act: Activation
  /** Something was recorded or compiled. */
  learned = false
  /** Regions that were recorded, small ones too. */
  readonly recorded: RegionRecording[] = []

  constructor(
    private readonly host: RegionHost,
    private readonly table: RegionTable,
    fn: LinkedFunction,
    args: readonly Value[],
  ) {
    const { script } = host
    if (script.isDisposed) throw new PtliteError('DISPOSED', 'the module was disposed')
    this.act = new Activation(fn, [script.root, ...args], script, { ...script.options, ...host.runOptions })
  }

  /** A recorder from where the run stands; null where the state has no signature. */
  recorder(values: readonly Value[] = this.act.values()): RegionRecorder | null {
    const { act, table } = this
    const { script, parts } = this.host
    const leavesBefore = (op: LinkedOperator, fn: LinkedFunction, pc: number): boolean => table.mayBegin(op, fn, pc)
    return regionRecorderOf(script, script.root, { parts, frames: act.frames, values, leavesBefore })
  }

  /** Carries the call out from where it stands, with a region that fits there or with the interpreter. */
  finish(first: Next | null): Value {
    const { act } = this
    let wait: Instruction | null = null
    for (let next = first; ;) {
      if (next !== null) {
        const end = this.replay(next)
        if (end === null) return this.interpretRest(next.entry)
        if (end.returned) return end.value
        wait = act.frames[act.frames.length - 1]!
      }
      next = this.interpret(wait)
      if (next === null) return act.finish()
    }
  }

  /** Runs a region's plan, or makes it. Null where it fails, with the run where it was. */
  private replay({ entry, region, parts }: Next): Advance | null {
    const { act, host } = this
    this.mayGoOn()
    const call = entry.state.kind === 'region' ? entry.state.call : null
    const inputs = inputsOf(region, parts)
    try {
      if (call !== null) {
        const outputs = call.run(inputs, false) as Tensor[]
        entry.replays++
        return advance(region, act, parts, outputs)
      }
      this.learned = true
      const begin = performance.now()
      const made = host.compileGraph(region.graph, inputs)
      entry.state = { kind: 'region', region, call: made.call }
      host.compiledRegion(region)
      entry.cost += performance.now() - begin
      return advance(region, act, parts, made.result as Tensor[])
    } catch (error) {
      if (error instanceof PtliteError && (call === null || error.code !== 'OUT_OF_MEMORY')) {
        this.failure = error
        return null
      }
      act.abandon()
      throw error
    }
  }

  private failure: PtliteError | null = null

  /** Whoever waits for the run may have given it up. */
  private mayGoOn(): void {
    try {
      this.host.runOptions.profiler?.now()
    } catch (error) {
      this.act.abandon()
      throw error
    }
  }

  /** The interpreter repeats an error of a plan and says where in the model it is. */
  private interpretRest(entry: Kept): Value {
    this.act.proceed(null)
    if (entry.state.kind === 'region' && entry.state.call === null) {
      // the arguments were not at fault
      entry.state = { kind: 'refused', reason: `compilation failed: ${this.failure?.message ?? ''}` }
      entry.attempts = MAX_ATTEMPTS
    }
    return this.act.finish()
  }

  /** Interprets up to a region that can be replayed or compiled, the operator `wait` at least; null where the method returns before. */
  private interpret(wait: Instruction | null): Next | null {
    const { act, table } = this
    if (act.proceed(new Watcher(table, wait))) return null
    for (;;) {
      const location = table.locate(act)
      const found = this.look(location)
      if (found === 'none') {
        if (act.proceed(new Watcher(table, null))) return null
      } else if (found !== null && 'parts' in found) return found
      else if (found !== null) {
        if (this.record(found, location)) return null
      } else if (location.end === undefined || location.end === null) {
        act.proceed(null)
        return null
      } else if (act.proceed(new Watcher(table, location.end))) return null
    }
  }

  /**
   * A region for the state at hand, or an entry to record one for; null where it is left to the interpreter. 'none' where no region can
   * begin here.
   */
  private look(location: Location): Next | RegionEntry | 'none' | null {
    const { list } = location
    const values = this.act.values()
    for (const [i, entry] of list.entries.entries()) {
      const { state } = entry
      const parts = state.kind === 'region' ? matchStart(state.region, values) : entry.signature.match(values)
      if (parts === null) continue
      list.touch(i)
      if (state.kind === 'region' && state.region.guards.hold()) return { entry, region: state.region, parts }
      return entry.attempts < MAX_ATTEMPTS ? entry : null
    }
    if (this.table.isFull || list.rests()) return null
    const hash = signatureHash(values)
    if (list.entries.length > 0 && !list.isDue(hash)) return null
    const { parts } = this.host
    const { fn, pc } = this.act.frames[this.act.frames.length - 1]!
    const description = new StateDescription((value) => parts.belongs(value))
    if (!values.every((value) => description.add(value))) {
      // objects that the run has made
      this.table.markBarren(fn.source.name, pc)
      return 'none'
    }
    const entry = new Entry(description.finish(), hash)
    entry.from = originOf(fn, pc)
    this.table.add(location, entry)
    return entry
  }

  /** Interprets a region and records it. True where the method has returned. */
  private record(entry: RegionEntry, location: Location): boolean {
    const { act, host, table } = this
    const recorder = this.recorder()
    this.learned = true
    host.noteChange()
    entry.attempts++
    entry.release()
    const begin = performance.now()
    const returned = act.proceed(recorder)
    const found = recorder?.finishRegion(returned ? act.result : null)
    entry.cost += performance.now() - begin
    if (found === undefined) return returned
    if (!('graph' in found)) {
      entry.state = { kind: 'refused', reason: host.reasonText(found) }
      if (!found.temporary) entry.attempts = MAX_ATTEMPTS
      return returned
    }
    location.end ??= endOf(found)
    entry.recordedOperators = found.graph.nodes.length
    this.recorded.push(found)
    if (table.isWorth(found, location)) entry.state = { kind: 'region', region: found, call: null }
    else {
      entry.state = { kind: 'refused', reason: TOO_SMALL }
      entry.attempts = MAX_ATTEMPTS
    }
    return returned
  }
}

/** Of a region without a plan. */
export const TOO_SMALL = 'there are too few operators for a plan'

/** Leaves a run before operators with which regions begin, once it has come past an operator. */
class Watcher implements RunRecorder {
  constructor(
    private readonly table: RegionTable,
    private wait: Instruction | null,
  ) {}

  leavesBefore(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean {
    const { wait } = this
    if (wait === null) return this.table.mayBegin(op, fn, pc)
    if (wait.fn === fn && wait.pc === pc) this.wait = null
    return false
  }

  operator(op: LinkedOperator, _args: readonly Value[], _argc: number, stack: Stack): void {
    op.call(stack)
  }

  called(): void {}
  returned(): void {}
  attributeRead(): void {}
  attributeWritten(): void {}
  objectCreated(): void {}
  refuse(): void {}
}
