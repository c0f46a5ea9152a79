import { milliseconds } from '../../runtime/platform.js'
import { PtliteError } from '../../runtime/error.js'
import { endsCall } from '../../runtime/limits.js'
import type { LinkedFunction } from '../../program/linked.js'
import type { Value } from '../../runtime/tensor/value.js'
import { type Entry, MAX_ATTEMPTS } from '../entry.js'
import type { Place } from '../record/module-parts.js'
import type { Refusal } from '../record/recorder.js'
import { isRegion, type RegionRecording } from '../record/region.js'
import { releaseMade } from '../record/region-prologue.js'
import type { Signature } from '../record/signature.js'
import type { StateParts } from '../record/state-signature.js'
import { isWhole, runWhole } from './region.js'
import type { RegionHost } from './region-call.js'
import { RegionRun, TOO_SMALL } from './runner.js'
import { type RegionEntry, RegionTable } from './table.js'
import { Trial } from './trial.js'

const NO_SIGNATURE: Refusal = { reason: 'its arguments have no signature', origin: null, temporary: false }

/** A signature of a method. */
export type MethodEntry = Entry<Signature, MethodRegions>

/** How calls of a method that was not recorded as a whole are carried out in regions. The first begins with the method and is kept in its entry. */
export class MethodRegions {
  private readonly table = new RegionTable()
  private readonly trial = new Trial()
  /** The last call has recorded or compiled something, and so may the next one. */
  private learns = true

  constructor(
    private readonly host: RegionHost,
    private readonly entry: MethodEntry,
    private readonly fn: LinkedFunction,
    /** Places of the ints among `self` and the arguments that may be others each time. */
    private readonly varying: ReadonlySet<number>,
  ) {}

  /** Regions behind the first one. */
  entries(): Iterable<RegionEntry> {
    return this.table.entries()
  }

  /** False where another call will do what the last one did. */
  get mayLearn(): boolean {
    const { state } = this.entry
    return this.learns || (state.kind === 'region' && state.call === null)
  }

  /** Interprets a call and records it, as a whole or in regions. */
  record(args: readonly Value[]): Value {
    const { entry, table, host } = this
    host.noteChange()
    entry.attempts++
    const run = new RegionRun(host, table, this.fn, args)
    const recorded = run.recordFrom([host.script.root, ...args], this.varying, (recorder, value) => recorder.finishMethod(value))
    const { returned } = recorded
    const found = recorded.found ?? NO_SIGNATURE
    const result = returned ? run.act.finish() : run.finish(null)
    if (!('graph' in found)) {
      entry.state = { kind: 'refused', reason: host.reasonText(found) }
      if (!found.temporary) entry.attempts = MAX_ATTEMPTS
      if (entry.attempts >= MAX_ATTEMPTS) entry.regions = null
      return result
    }
    entry.recordedOperators = found.graph.nodes.length
    if (entry.attempts > MAX_ATTEMPTS) entry.state = { kind: 'refused', reason: 'attributes that it reads change between calls' }
    else if (!isRegion(found)) entry.state = { kind: 'recorded', recording: found }
    else if (isWhole(found) ? found.graph.nodes.length > 0 : table.isWorth(found))
      entry.state = { kind: 'region', region: found, call: null }
    else {
      entry.state = { kind: 'refused', reason: this.whyNot(found) }
      entry.attempts = MAX_ATTEMPTS
    }
    if (entry.state.kind === 'region' || (isRegion(found) && table.isUsed)) return result
    this.dispose()
    entry.regions = null
    host.noteChange()
    return result
  }

  /** Calls the method; `parts` fits its first region, where it has one. */
  call(args: readonly Value[], parts: StateParts | null): Value {
    const { host, fn, entry, trial } = this
    if (entry.state.kind === 'refused' && entry.attempts < MAX_ATTEMPTS) return this.record(args)
    if (entry.state.kind === 'region' && !entry.state.region.guards.hold()) {
      if (parts !== null) releaseMade(parts)
      entry.release()
      if (entry.attempts < MAX_ATTEMPTS) return this.record(args)
      entry.state = { kind: 'refused', reason: 'attributes that it reads change between calls' }
    }
    const { state } = entry
    if (state.kind === 'region' && state.call !== null && isWhole(state.region)) {
      try {
        entry.replays++
        return runWhole(state.region, state.call, parts!)
      } catch (error) {
        if (error instanceof PtliteError && !endsCall(error)) return host.interpretCall(fn, args)
        throw error
      }
    }
    const begin = milliseconds()
    if (trial.interprets) {
      if (parts !== null) releaseMade(parts)
      const value = host.interpretCall(fn, args)
      trial.noteInterpreted(milliseconds() - begin)
      return value
    }
    const run = new RegionRun(host, this.table, fn, args)
    const value = run.finish(state.kind === 'region' ? { entry, region: state.region, parts: parts! } : null)
    this.learns = run.learned
    if (!run.learned) trial.noteRegions(milliseconds() - begin)
    if (trial.isLost) this.giveUp()
    return value
  }

  dispose(): void {
    this.table.dispose()
  }

  /** From here on calls are interpreted. */
  private giveUp(): void {
    const { entry } = this
    this.host.noteChange()
    entry.dispose()
    entry.regions = null
    entry.attempts = MAX_ATTEMPTS
    entry.state = { kind: 'refused', reason: 'its regions are not faster than the interpreter' }
  }

  /** Why there is no plan for what is too small for one. */
  private whyNot({ writes, end }: RegionRecording): string {
    const { host } = this
    if (end.kind === 'step') return host.reasonText(end)
    const [first] = writes
    if (first === undefined) return TOO_SMALL
    const { place, origin } = first
    const name = place.object.names[place.slot] ?? place.slot
    return host.reasonText({ reason: `prim::SetAttr sets attribute '${name}', and there are too few operators for a plan`, origin })
  }
}

export function methodRegions(host: RegionHost, entry: MethodEntry, fn: LinkedFunction): MethodRegions {
  return new MethodRegions(host, entry, fn, new Set(entry.signature.varying.map((place) => place + 1)))
}

/** A region as tools show it. */
export interface ShownRegion {
  readonly recording: RegionRecording
  /** Where it ends, and what of the module it reads and sets. */
  readonly title: string
  readonly isSmall: boolean
}

/**
 * The regions of a method that cannot be recorded as a whole, for tools that show or write them. Runs the method, which may take two runs. With `restore`, which
 * gives attributes back what they held, each run begins with that, and floats of attributes are followed as ints are, and lists and dicts as tensors.
 */
export function recordRegions(
  host: RegionHost,
  fn: LinkedFunction,
  args: readonly Value[],
  restore: (() => void) | null = null,
): { readonly result: Value; readonly regions: readonly ShownRegion[] } {
  for (let attempt = 1; ; attempt++) {
    const table = new RegionTable()
    restore?.()
    const run = new RegionRun(host, table, fn, args, restore !== null)
    const recorded = run.recordFrom([host.script.root, ...args], new Set(), (recorder, value) => recorder.finishRegion(value))
    const { returned } = recorded
    const found = recorded.found ?? NO_SIGNATURE
    const result = returned ? run.act.finish() : run.finish(null)
    if (!('graph' in found) && found.temporary && attempt < MAX_ATTEMPTS) continue
    const regions = 'graph' in found ? [found, ...run.recorded] : run.recorded
    const isSmall = (region: RegionRecording): boolean => !(region === found && isWhole(region)) && !table.isWorth(region)
    return { result, regions: regions.map((recording) => ({ recording, title: titleOf(recording, host), isSmall: isSmall(recording) })) }
  }
}

function titleOf({ reads, writes, end }: RegionRecording, host: RegionHost): string {
  const names = (places: readonly Place[]): string => places.map(({ object, slot }) => `'${object.names[slot] ?? slot}'`).join(', ')
  const state = [
    ...(reads.length > 0 ? [`reads state ${names(reads)}`] : []),
    ...(writes.length > 0 ? [`sets ${names(writes.map(({ place }) => place))}`] : []),
  ]
  return [...state, end.kind === 'return' ? 'up to the end' : `up to where ${host.reasonText(end)}`].join('; ')
}
