/** One character of a few, or something that several sequences may stand for. */
export interface Item {
  readonly id: number
  /** Whether the character is one of it; null for what `alternatives` stand for. */
  readonly takes: ((character: string) => boolean) | null
  /** Sequences, one of which takes its place. */
  readonly alternatives: () => readonly (readonly Item[])[]
}

/** What is still to come, the next item first. null: nothing. Equal ones are the same object. */
interface Rest {
  readonly id: number
  readonly item: Item
  readonly tail: Rest | null
}

/** All that may come next: more than one where that is not decided yet. */
export interface State {
  /** The same for equal states of a grammar. */
  readonly key: string
  readonly rests: readonly (Rest | null)[]
}

/** Texts that consist of items, read character by character: an automaton with a stack for each way in which the text so far may be read. */
export class Grammar {
  private readonly known = new Map<string, Rest>()
  private readonly closures = new Map<number, readonly (Rest | null)[]>()

  start(items: readonly Item[]): State {
    return this.stateOf([this.before(items, null)])
  }

  /** What may come behind a character; null where it may not stand there. */
  step({ rests }: State, character: string): State | null {
    const next = new Set<Rest | null>()
    for (const rest of rests) if (rest !== null && rest.item.takes!(character)) next.add(rest.tail)
    return next.size === 0 ? null : this.stateOf([...next])
  }

  /** With characters in place of what stands for several sequences. */
  private stateOf(rests: readonly (Rest | null)[]): State {
    const all = new Set(rests.flatMap((rest) => (rest === null ? [null] : this.closure(rest))))
    const sorted = [...all].sort((a, b) => (a?.id ?? 0) - (b?.id ?? 0))
    return { key: sorted.map((rest) => rest?.id ?? 0).join(), rests: sorted }
  }

  private closure(rest: Rest): readonly (Rest | null)[] {
    let found = this.closures.get(rest.id)
    if (found !== undefined) return found
    const seen = new Set<Rest | null>()
    const open: (Rest | null)[] = [rest]
    while (open.length > 0) {
      const each = open.pop()!
      if (seen.has(each)) continue
      seen.add(each)
      if (each !== null && each.item.takes === null) for (const items of each.item.alternatives()) open.push(this.before(items, each.tail))
    }
    found = [...seen].filter((each) => each === null || each.item.takes !== null)
    this.closures.set(rest.id, found)
    return found
  }

  private before(items: readonly Item[], tail: Rest | null): Rest | null {
    return items.reduceRight<Rest | null>((rest, item) => {
      const key = `${item.id}:${rest?.id ?? 0}`
      let found = this.known.get(key)
      if (found === undefined) this.known.set(key, (found = { id: this.known.size + 1, item, tail: rest }))
      return found
    }, tail)
  }
}
