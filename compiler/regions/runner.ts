import { milliseconds } from '../../runtime/platform.js'
import { PtliteError } from '../../runtime/error.js'
import { endsCall } from '../../runtime/limits.js'
import { currentBudget } from '../../runtime/native/budget.js'
import { Activation } from '../../interpreter/activation.js'
import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import type { OperatorCall, RunRecorder } from '../../interpreter/run-state.js'
import type { Value } from '../../runtime/tensor/value.js'
import { Entry, MAX_ATTEMPTS } from '../entry.js'
import { originOf } from '../record/recorder.js'
import { type RegionRecorder, regionRecorderOf } from '../record/region-recorder.js'
import type { RegionRecording } from '../record/region.js'
import type { Read } from '../record/region-trace.js'
import { releaseMade } from '../record/region-prologue.js'
import { StateDescription, type StateParts } from '../record/state-signature.js'
import { formHash, signatureHash } from '../record/signature-hash.js'
import { advance, type Advance, matchStart } from './region.js'
import { compileRegion, type RegionHost, runRegion } from './region-call.js'
import { endOf, type Instruction, type Location, type RegionEntry, type RegionTable, type Stretch } from './table.js'

/** What a region's plan is kept in. */
type Kept = Pick<RegionEntry, 'state' | 'replays' | 'attempts' | 'cost'>

/** A region with a state that it fits. */
export interface Next {
  readonly entry: Kept
  readonly region: RegionRecording
  readonly parts: StateParts
}

export interface Recorded<T> {
  readonly returned: boolean
  /** Null where the state has no signature. */
  readonly found: T | null
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
    private readonly followsAll = false,
  ) {
    const { script } = host
    if (script.isDisposed) throw new PtliteError('DISPOSED', 'the module was disposed')
    this.act = new Activation(fn, [script.root, ...args], script, { ...script.options, ...host.runOptions })
  }

  /**
   * Interprets from where the run stands up to where a region ends that begins there, and records it; `varying` are the places of the ints of
   * the state that may be others in later runs. `finish` makes the recording of what was seen.
   */
  recordFrom<T>(
    values: readonly Value[],
    varying: ReadonlySet<number>,
    finish: (recorder: RegionRecorder, result: Value) => T,
  ): Recorded<T> {
    const { act, table } = this
    const { script, parts } = this.host
    const leavesBefore = (op: LinkedOperator, fn: LinkedFunction, pc: number): boolean => table.mayBegin(op, fn, pc)
    const decides = (read: Read): boolean => table.decides(read)
    const noteDeciding = (reads: Iterable<Read>): void => table.noteDeciding(reads)
    const { followsAll } = this
    const start = { parts, frames: act.frames, values, varying, leavesBefore, decides, noteDeciding, followsAll }
    const recorder = regionRecorderOf(script, script.root, start)
    if (recorder === null) return { returned: act.proceed(null), found: null }
    const standIns = recorder.standIns()
    if (standIns.size > 0) act.replace(values, (value, i) => standIns.get(i) ?? value)
    const putBack = (): void => {
      recorder.putBack([...act.frames.map(({ registers }) => registers), act.stack.values])
    }
    try {
      const returned = act.proceed(recorder)
      return { returned, found: finish(recorder, returned ? act.result : null) }
    } finally {
      putBack()
    }
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
    try {
      if (call !== null) {
        const outputs = runRegion(region, call, parts)
        entry.replays++
        return advance(region, act, parts, outputs)
      }
      this.learned = true
      const begin = milliseconds()
      const made = compileRegion(host, region, parts)
      entry.state = { kind: 'region', region, call: made.call }
      host.compiledRegion(region)
      entry.cost += milliseconds() - begin
      return advance(region, act, parts, made.outputs)
    } catch (error) {
      if (error instanceof PtliteError && (call === null ? error.code !== 'ABORTED' : !endsCall(error))) {
        this.failure = error
        return null
      }
      act.abandon()
      throw error
    } finally {
      releaseMade(parts)
    }
  }

  private failure: PtliteError | null = null

  /** Whoever waits for the run may have given it up. */
  private mayGoOn(): void {
    try {
      currentBudget().check()
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
      } else if (location.isUnsteady) {
        if (this.watch(location)) return null
      } else if (location.resume !== undefined && location.resume !== null) {
        if (act.proceed(this.watcherUntil(location.resume))) return null
      } else if (location.end === undefined || location.end === null) {
        act.proceed(null)
        return null
      } else if (act.proceed(new Watcher(table, location.end))) return null
    }
  }

  /** Leaves the run before this operator; where it stands before it, as in a loop whose body ends where it began, before the next call of it. */
  private watcherUntil(until: Instruction): Watcher {
    const { fn, pc } = this.act.frames[this.act.frames.length - 1]!
    const watcher = new Watcher(this.table, null, until)
    if (until.fn === fn && until.pc === pc) watcher.skip = until
    return watcher
  }

  /** Interprets what a region would be, and notes the form of the state on the way. True where the method has returned. */
  private watch(location: Location): boolean {
    const { act, table } = this
    const stretch: Stretch[number][] = []
    this.learned = true
    for (let watcher = new Watcher(table, null); stretch.length < LONGEST_STRETCH; watcher = new Watcher(table, null)) {
      // past the operator at hand
      const { fn, pc } = act.frames[act.frames.length - 1]!
      stretch.push({ fn, pc, form: formHash(act.values()) })
      watcher.skip = { fn, pc }
      if (act.proceed(watcher)) {
        location.addStretch(stretch)
        return true
      }
    }
    location.addStretch(stretch)
    return act.proceed(null)
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
      releaseMade(parts)
      return entry.attempts < MAX_ATTEMPTS ? entry : null
    }
    if (this.table.isFull) return null
    const places = this.miss(location, values)
    if (location.resume !== undefined && places === null && location.resume !== null) return null
    const widened = places?.every((place) => location.varying.has(place)) === true
    if (!widened && list.rests()) return null
    const hash = signatureHash(values)
    if (!widened && list.entries.length > 0 && !list.isDue(hash)) return null
    const { parts } = this.host
    const { fn, pc } = this.act.frames[this.act.frames.length - 1]!
    const description = new StateDescription(parts)
    if (!values.every((value, i) => description.add(value, location.varying.has(i)))) {
      // objects that the run has made
      this.table.markBarren(fn.source.name, pc)
      return 'none'
    }
    const entry = new Entry(description.finish(), hash)
    entry.from = originOf(fn, pc)
    this.table.add(location, entry)
    return entry
  }

  /** Notes a state without a region; returns the places of the ints in which alone it differs from one that has an entry. */
  private miss(location: Location, values: readonly Value[]): readonly number[] | null {
    if (location.resume !== undefined && location.resume !== null) return null
    let places: readonly number[] | null = null
    for (const { signature } of location.list.entries) places ??= signature.differingInts(values)
    location.noteMiss(this, places)
    // times of calls that still find something out are not those of later ones
    if (location.misses <= LEARNING) this.learned = true
    return places
  }

  /** Interprets a region and records it. True where the method has returned. */
  private record(entry: RegionEntry, location: Location): boolean {
    const { act, host, table } = this
    this.learned = true
    host.noteChange()
    entry.attempts++
    entry.release()
    const begin = milliseconds()
    const { returned, found } = this.recordFrom(act.values(), location.varying, (recorder, result) => recorder.finishRegion(result))
    entry.cost += milliseconds() - begin
    if (found === null) return returned
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

/** Operators that are looked at in one call to find out where a state stops changing. */
const LONGEST_STRETCH = 256
/** States without a region for which a place is still being learnt. */
const LEARNING = 8

/** Of a region without a plan. */
export const TOO_SMALL = 'there are too few operators for a plan'

/** Leaves a run before operators with which regions begin, once it has come past an operator. */
class Watcher implements RunRecorder {
  /** A call that is passed. */
  skip: Instruction | null = null

  /** It leaves behind the operator call `wait`, or before `until`, where it is not null. */
  constructor(
    private readonly table: RegionTable,
    private wait: Instruction | null,
    private readonly until: Instruction | null = null,
  ) {}

  leavesBefore(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean {
    const { wait, until, skip } = this
    if (skip !== null) {
      if (skip.fn === fn && skip.pc === pc) this.skip = null
      return false
    }
    if (until !== null) return until.fn === fn && until.pc === pc
    if (wait === null) return this.table.mayBegin(op, fn, pc)
    if (wait.fn === fn && wait.pc === pc) this.wait = null
    return false
  }

  operator({ op, stack }: OperatorCall): void {
    op.call(stack)
  }

  settles(): void {}
  compares(): void {}
  called(): void {}
  returned(): void {}
  attributeRead(): void {}
  attributeWritten(): void {}
  objectCreated(): void {}
  refuse(): void {}
}
