/** Signatures of one method that are kept; the least recently used one goes first. */
const MAX_KEPT = 8
/** Signatures that are remembered to be recognised when they come again. */
const MAX_SEEN = 64
/** Plans of a method that may be made before any has paid. */
const FREE_PLANS = 2
/** What may be spent on plans besides: parts of the time spent interpreting, and of the time that replays have saved. */
const LOSS_LIMIT = 0.05
const REINVESTED = 0.5
/** What a replay is taken to save of the time of an interpreted call. */
const SAVED_SHARE = 0.3

/** Calls in a row without a signature that was seen before, after which most calls are not looked at any more. */
const PATIENCE = 64
/** Calls that are looked at between two rests, and how long a rest is at first and at most. */
const LOOK = 16
const FIRST_REST = 32
const LONGEST_REST = 1024

/** Of the calls during a rest, one in so many is compared with signatures that have an entry. */
const GLANCE = 4

/** Calls in a row that are left to the interpreter for good, after which the next so many are not looked at. */
const FUTILE = 16
const SKIPPED = 64

/** What is kept of a signature. */
export interface Kept {
  /** Of its signature; two signatures may have the same. */
  readonly hash: number
  /** Calls that were replayed. */
  replays: number
  /** Milliseconds spent on recording and compiling it, calls done meanwhile included. */
  cost: number
}

/**
 * The signatures of a method that are recorded or compiled, and which come next. But for the first few, none are made before what they
 * cost is covered by a small part of the time spent interpreting and half of what replays have saved: calls are at most a few per cent
 * slower than without a compiler. Where signatures keep changing, looking at them rests for longer and longer; where calls cannot be
 * compiled, most are not looked at.
 */
export class SignatureList<E extends Kept> {
  /** Most recently used first. */
  readonly entries: E[] = []
  private readonly seen = new Set<number>()
  private made = 0
  /** Milliseconds spent on plans that are gone, and replays of those. */
  private spent = 0
  private replayed = 0
  private interpreted = 0
  private calls = 0
  private misses = 0
  private rest = FIRST_REST
  private resting = 0
  private futile = 0
  private skipping = 0

  /** `kept`: entries at most; `free`: those that may be made before any has paid. */
  constructor(
    private readonly kept = MAX_KEPT,
    private readonly free = FREE_PLANS,
  ) {}

  /** Makes an entry the most recently used one. `futile`: all that it says is that such calls can never be replayed. */
  touch(index: number, futile = false): void {
    if (futile) this.noteFutile()
    else {
      this.futile = 0
      this.skipping = 0
      this.resting = 0
      // where most calls are of other forms, one of a known form says nothing about those
      if (this.misses > 0) this.misses = Math.max(0, this.misses - LOOK)
      if (this.misses === 0) this.rest = FIRST_REST
    }
    if (index > 0) this.entries.unshift(...this.entries.splice(index, 1))
  }

  /** Counts a call that was interpreted. */
  note(milliseconds: number): void {
    this.interpreted += milliseconds
    this.calls++
  }

  /** Notes a call whose signature has no entry. True where it is not worth while to ask `isDue`: signatures keep changing. */
  rests(): boolean {
    if (this.resting === 0) return false
    this.resting--
    return true
  }

  /** Notes a call. True where it is not even compared with signatures that have an entry: during a rest, three calls of four. */
  dozes(): boolean {
    if (this.resting % GLANCE === 0) return false
    this.resting--
    return true
  }

  /** Notes a call that can never be replayed. */
  noteFutile(): void {
    if (++this.futile >= FUTILE) this.skipping = SKIPPED
  }

  /** Notes a call. True where it is not worth while to look at its signature: those before it could never be replayed. */
  skips(): boolean {
    if (this.skipping === 0) return false
    this.skipping--
    return true
  }

  /** Notes a signature that has no entry. True where it was seen before, and there is time for a plan. */
  isDue(hash: number): boolean {
    const known = this.seen.has(hash)
    if (known && this.affordable) {
      this.awake()
      return true
    }
    if (++this.misses >= PATIENCE && this.misses % LOOK === 0) {
      this.resting = this.rest
      this.rest = Math.min(2 * this.rest, LONGEST_REST)
    }
    if (known) return false
    if (this.seen.size >= MAX_SEEN) this.seen.delete(this.seen.values().next().value!)
    this.seen.add(hash)
    return false
  }

  /** Adds an entry; the one that has to go for it is returned. */
  add(entry: E): E | undefined {
    this.awake()
    this.made++
    this.seen.delete(entry.hash)
    this.entries.unshift(entry)
    const gone = this.entries.length > this.kept ? this.entries.pop() : undefined
    if (gone !== undefined) {
      this.spent += gone.cost
      this.replayed += gone.replays
    }
    return gone
  }

  private awake(): void {
    this.misses = 0
    this.resting = 0
    this.rest = FIRST_REST
    this.futile = 0
    this.skipping = 0
  }

  /** True where another plan, which will cost what others have cost, fits in what may be spent. */
  private get affordable(): boolean {
    const { made, entries } = this
    if (made < this.free) return true
    const spent = entries.reduce((sum, { cost }) => sum + cost, this.spent)
    const saved = SAVED_SHARE * this.usual * entries.reduce((sum, { replays }) => sum + replays, this.replayed)
    return spent + spent / made <= LOSS_LIMIT * this.interpreted + REINVESTED * saved
  }

  /** Milliseconds of an interpreted call. */
  private get usual(): number {
    return this.calls === 0 ? 0 : this.interpreted / this.calls
  }
}
