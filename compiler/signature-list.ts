/** Signatures of one method that are kept; the least recently used one goes first. */
const MAX_KEPT = 8
/** Signatures that are remembered to be recognised when they come again. */
const MAX_SEEN = 64
/** Plans of a method that may be made before others have paid. */
const FREE_PLANS = 2
/** Part of the time spent interpreting that may be spent besides on plans that have not paid yet. */
const LOSS_LIMIT = 0.05
/** What a replay is taken to save of the time of an interpreted call. */
const SAVED_SHARE = 0.3

/** Calls in a row without a signature that was seen before, after which most calls are not looked at any more. */
const PATIENCE = 64
/** Calls that are looked at between two rests, and how long a rest is at first and at most. */
const LOOK = 16
const FIRST_REST = 32
const LONGEST_REST = 1024

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
 * The signatures of a method that are recorded or compiled, and which come next. But for the first few, none are made while the time spent
 * on plans that have not paid by what their replays save is more than a small part of all: calls are at most a few per cent
 * slower than without a compiler. Where signatures keep changing, looking at them rests for longer and longer.
 */
export class SignatureList<E extends Kept> {
  /** Most recently used first. */
  readonly entries: E[] = []
  private readonly seen = new Set<number>()
  private lost = 0
  private interpreted = 0
  private calls = 0
  private misses = 0
  private rest = FIRST_REST
  private resting = 0

  /** Makes an entry the most recently used one. */
  touch(index: number): void {
    this.awake()
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

  /** Notes a signature that has no entry. True where it was seen before, and there is time for a plan. */
  isDue(hash: number): boolean {
    if (this.seen.has(hash)) {
      this.awake()
      return this.debt <= LOSS_LIMIT * this.interpreted
    }
    if (++this.misses >= PATIENCE && this.misses % LOOK === 0) {
      this.resting = this.rest
      this.rest = Math.min(2 * this.rest, LONGEST_REST)
    }
    if (this.seen.size >= MAX_SEEN) this.seen.delete(this.seen.values().next().value!)
    this.seen.add(hash)
    return false
  }

  /** Adds an entry; the one that has to go for it is returned. */
  add(entry: E): E | undefined {
    this.seen.delete(entry.hash)
    this.entries.unshift(entry)
    const gone = this.entries.length > MAX_KEPT ? this.entries.pop() : undefined
    if (gone !== undefined) this.lost += this.unpaid(gone)
    return gone
  }

  private awake(): void {
    this.misses = 0
    this.resting = 0
    this.rest = FIRST_REST
  }

  /** Milliseconds spent on plans that did not pay, or have not yet. */
  private get debt(): number {
    const { entries, lost } = this
    return entries.length < FREE_PLANS ? lost : entries.reduce((sum, entry) => sum + this.unpaid(entry), lost)
  }

  private unpaid({ cost, replays }: E): number {
    return Math.max(0, cost - replays * SAVED_SHARE * this.usual)
  }

  /** Milliseconds of an interpreted call. */
  private get usual(): number {
    return this.calls === 0 ? 0 : this.interpreted / this.calls
  }
}
