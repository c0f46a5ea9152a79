import { pace } from '../../runtime/pace.js'

/** What a step of a method does with its variables, by their keys, and where it goes on. Behind the last one is the method's end. */
export interface Step {
  readonly reads: readonly string[]
  /** What it gives a new value, and by which value of the plan: that tells the form of what is in it from now on. */
  readonly writes: readonly (readonly [key: string, value: number])[]
  /** Numbers of the steps that may follow. */
  readonly next: readonly number[]
}

/** The value that a variable was last written as; MIXED where that differs from path to path. */
export const MIXED = -1
type Contents = Map<string, number>

/** Steps that come one after the other whatever happens. */
interface Block {
  readonly first: number
  readonly end: number
  readonly next: readonly number[]
}

/** The paths through a method: its steps as blocks. */
export class Flow {
  private readonly blocks: readonly Block[]
  private readonly blockAt = new Map<number, number>()

  constructor(private readonly steps: readonly Step[]) {
    const leaders = new Set([0])
    steps.forEach(({ next }, i) => {
      if (next.length === 1 && next[0] === i + 1) return
      leaders.add(i + 1)
      for (const target of next) leaders.add(target)
    })
    const sorted = [...leaders].filter((at) => at <= steps.length).sort((a, b) => a - b)
    this.blocks = sorted.map((first, i) => {
      const end = sorted[i + 1] ?? steps.length
      this.blockAt.set(first, i)
      return { first, end, next: end > first ? steps[end - 1]!.next : [] }
    })
  }

  /** Variables that some path reads before it writes them. `results` are read at the end. */
  liveAtStart(results: readonly string[]): ReadonlySet<string> {
    const live = this.blocks.map(() => new Set<string>())
    for (let isFinal = false; !isFinal;) {
      isFinal = true
      for (let at = this.blocks.length - 1; at >= 0; at--) {
        const { first, end, next } = this.blocks[at]!
        const now = new Set<string>(end === this.steps.length && (end === first || next.includes(end)) ? results : [])
        for (const target of next) for (const key of live[this.blockAt.get(target) ?? -1] ?? []) now.add(key)
        for (let i = end - 1; i >= first; i--) {
          const { reads, writes } = this.steps[i]!
          for (const [key] of writes) now.delete(key)
          for (const key of reads) now.add(key)
        }
        pace(now.size + end - first)
        if (now.size === live[at]!.size) continue
        live[at] = now
        isFinal = false
      }
    }
    return live[0] ?? new Set(results)
  }

  /** What variables hold before each block, by the number of its first step, where the method begins with `start`. */
  contents(start: Contents): ReadonlyMap<number, Contents> {
    const before: (Contents | undefined)[] = this.blocks.map(() => undefined)
    before[0] = new Map(start)
    const open = [0]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const { first, end, next } = this.blocks[at]!
      const now = new Map(before[at])
      for (let i = first; i < end; i++) for (const [key, value] of this.steps[i]!.writes) now.set(key, value)
      pace(now.size + end - first)
      for (const target of next) {
        const block = this.blockAt.get(target)
        if (block === undefined) continue
        const known = before[block]
        const merged = known === undefined ? new Map(now) : merge(known, now)
        if (merged === null) continue
        before[block] = merged
        open.push(block)
      }
    }
    return new Map(this.blocks.map(({ first }, i) => [first, before[i] ?? new Map()]))
  }
}

/** What both have in common; null where that is all of the first. Variables that one lacks have what the other has: nobody reads them where they are not set. */
function merge(known: Contents, other: Contents): Contents | null {
  let merged: Contents | null = null
  for (const [key, value] of other) {
    const before = known.get(key)
    if (before === value || before === MIXED) continue
    merged ??= new Map(known)
    merged.set(key, before === undefined ? value : MIXED)
  }
  return merged
}
