import type { Activation, Frame } from '../../interpreter/activation.js'
import type { LinkedFunction, LinkedOperator } from '../../program/linked.js'
import type { GraphNode } from '../graph/graph.js'
import { type Entry } from '../entry.js'
import type { Read } from '../record/region-trace.js'
import type { RegionRecording } from '../record/region.js'
import type { StateSignature } from '../record/state-signature.js'
import { SignatureList } from '../signature-list.js'

/** Regions of a method at most, and those that begin at one place. */
const MAX_REGIONS = 128
const MAX_KEPT = 32
/** Operators of a region that is worth a plan: to get in and out costs about as much as a few interpreted calls. */
const MIN_OPERATORS = 3

export type RegionEntry = Entry<StateSignature>

/** An instruction of the model. */
export interface Instruction {
  readonly fn: LinkedFunction
  readonly pc: number
}

/** Calls in which a state was another one, before that is taken to go on. */
const ENOUGH = 3

/** Operator calls with which regions could begin, as a call passes them, with a hash of the state before each. */
export type Stretch = readonly (Instruction & { readonly form: number })[]

/** The first place where two calls have the same form behind one where they have not; null for none. */
function steadyAgain(a: Stretch, b: Stretch): Instruction | null {
  let differed = false
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [one, other] = [a[i]!, b[i]!]
    if (one.fn !== other.fn || one.pc !== other.pc) return null
    if (one.form !== other.form) differed = true
    else if (differed) return { fn: one.fn, pc: one.pc }
  }
  return null
}

/** Where regions begin: the instructions at which the functions of a run stand. */
export class Location {
  readonly list = new SignatureList<RegionEntry>(MAX_KEPT, MAX_KEPT)
  /** The operator call in which regions that begin here have ended; undefined before one was recorded, null for the end of the method. */
  end: Instruction | null | undefined = undefined
  /** Places of the ints among the values of the state that may be others each time. */
  readonly varying = new Set<number>()
  /** Calls in which the state had another form than any before; and those in which it differed in ints alone. */
  misses = 0
  otherInts = 0
  private missedIn: object | null = null
  private stretches: Stretch[] = []
  /** The operator call before which the state has a form of its own again, where that keeps changing here; null where there is none. */
  resume: Instruction | null | undefined = undefined

  constructor(
    private readonly stands: readonly Instruction[],
    private readonly depth: number,
  ) {}

  /** Counts a state without a region, once for each call; `places` are the ints in which alone it differs from a known one. */
  noteMiss(call: object, places: readonly number[] | null): void {
    if (this.missedIn === call) return
    this.missedIn = call
    this.misses++
    if (places === null) return
    this.otherInts++
    if (this.otherInts >= ENOUGH) for (const place of places) this.varying.add(place)
  }

  /** True where it is worth while to find out where the form of the state stops changing. */
  get isUnsteady(): boolean {
    return this.resume === undefined && this.misses >= ENOUGH
  }

  /** What was passed between here and the end of the region that begins here; two calls tell. */
  addStretch(stretch: Stretch): void {
    this.stretches.push(stretch)
    const [a, b] = this.stretches
    if (a === undefined || b === undefined) return
    this.stretches = []
    this.resume = steadyAgain(a, b)
  }

  isAt(frames: readonly Frame[], depth: number): boolean {
    const { stands } = this
    if (frames.length !== stands.length || depth !== this.depth) return false
    for (let i = 0; i < stands.length; i++) if (frames[i]!.fn !== stands[i]!.fn || frames[i]!.pc !== stands[i]!.pc) return false
    return true
  }
}

/** The regions of a method behind its first one. */
export class RegionTable {
  private readonly locations = new Map<number, Location[]>()
  /** Operator calls with which no region begins. */
  private readonly barren = new Map<string, Set<number>>()
  /** Reads of numbers that regions were bound to. */
  private readonly deciding = new Map<string, Set<number>>()
  private readonly starting = new Map<LinkedOperator, boolean>()
  private count = 0

  /** Where a run stands. */
  locate({ frames, stack }: Activation): Location {
    const { pc } = frames[frames.length - 1]!
    let found = this.locations.get(pc)
    if (found === undefined) this.locations.set(pc, (found = []))
    let location = found.find((l) => l.isAt(frames, stack.top))
    if (location === undefined) {
      const stands = frames.map(({ fn, pc }): Instruction => ({ fn, pc }))
      found.push((location = new Location(stands, stack.top)))
    }
    return location
  }

  /** True where a region may begin with this call: it makes a tensor, and has not been found to be worth nothing. */
  mayBegin(op: LinkedOperator, fn: LinkedFunction, pc: number): boolean {
    let starts = this.starting.get(op)
    if (starts === undefined) this.starting.set(op, (starts = makesTensors(op)))
    return starts && this.barren.get(fn.source.name)?.has(pc) !== true
  }

  /** A region was recorded that is worth a plan. */
  get isUsed(): boolean {
    for (const { state } of this.entries()) if (state.kind === 'region') return true
    return false
  }

  get isFull(): boolean {
    return this.count >= MAX_REGIONS
  }

  add(location: Location, entry: RegionEntry): void {
    this.count++
    location.list.add(entry)?.dispose()
  }

  /**
   * False where a region is too small to be worth a plan. None will begin with the operator that ended it, nor with any of its own unless
   * the `location` where it begins has better ones.
   */
  isWorth({ graph, end }: RegionRecording, location?: Location): boolean {
    if (end.kind === 'step') {
      const { fn, pc } = end.stands[end.stands.length - 1]!
      this.markBarren(fn.source.name, pc)
    }
    if (graph.nodes.length >= MIN_OPERATORS) return true
    if (location?.list.entries.some(({ state }) => state.kind === 'region') === true) return false
    for (const { origin } of graph.nodes as GraphNode[]) if (origin !== null) this.markBarren(origin.functionName, 3 * origin.pc)
    return false
  }

  markBarren(functionName: string, pc: number): void {
    addPlace(this.barren, functionName, pc)
  }

  /** True for a read of a number that led calls elsewhere, or that a plan was bound to: regions end with it. */
  decides({ fn, pc }: Read): boolean {
    return this.deciding.get(fn.source.name)?.has(pc) === true
  }

  noteDeciding(reads: Iterable<Read>): void {
    for (const { fn, pc } of reads) addPlace(this.deciding, fn.source.name, pc)
  }

  *entries(): Iterable<RegionEntry> {
    for (const locations of this.locations.values()) for (const { list } of locations) yield* list.entries
  }

  dispose(): void {
    for (const entry of this.entries()) entry.dispose()
    this.locations.clear()
  }
}

function addPlace(places: Map<string, Set<number>>, functionName: string, pc: number): void {
  const known = places.get(functionName)
  if (known === undefined) places.set(functionName, new Set([pc]))
  else known.add(pc)
}

/** Where a region ended, for `Location.end`. */
export function endOf({ end }: RegionRecording): Instruction | null {
  return end.kind === 'return' ? null : end.stands[end.stands.length - 1]!
}

function makesTensors({ entry }: LinkedOperator): boolean {
  return entry !== null && entry.schema.returns.some(({ type }) => type.includes('Tensor'))
}
