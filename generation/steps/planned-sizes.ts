import type { LanguageModel } from '../language-model.js'
import type { Slot } from '../roles.js'

/** How many tokens calls may have of a model that was compiled ahead. */
export class PlannedSizes {
  /** Descending. */
  private readonly sizes: readonly number[]

  private constructor(
    /** Whose plans give a row for each token. */
    private readonly whole: ReadonlySet<number>,
    /** Whose plans give the last row alone. */
    private readonly last: ReadonlySet<number>,
  ) {
    this.sizes = [...new Set([...whole, ...last])].sort((a, b) => b - a)
  }

  /** null for a model that takes any number. */
  static of(model: LanguageModel, slots: readonly Slot[]): PlannedSizes | null {
    const calls = model.forms?.()?.calls.filter(({ method }) => method === 'forward') ?? []
    const { argument, path } = slots.find(({ role }) => role === 'tokens')!
    const place = [...new Set(slots.map((slot) => slot.argument))].indexOf(argument)
    if (path.length > 0) return null
    const sizesOf = (wanted: boolean): Set<number> =>
      new Set(calls.flatMap(({ tensors, lastRow }) => (lastRow === wanted ? tensors[place]?.shape.at(-1) || [] : [])))
    const found = new PlannedSizes(sizesOf(false), sizesOf(true))
    return found.sizes.length === 0 ? null : found
  }

  /** Whether a call of so many tokens can be asked for the last row alone. */
  givesLast(count: number): boolean {
    return this.last.has(count)
  }

  /** How many of `left` tokens, `most` at most, the next call takes, the last of which is to give `rows` rows; null where no plan is for that. */
  next(left: number, most: number, rows: number): number | null {
    const fits = (size: number): boolean => (size === left ? rows === 1 || this.whole.has(size) : size <= left - rows)
    return this.sizes.find((size) => size <= most && fits(size)) ?? null
  }

  /** The most tokens behind one, up to `room`, that are seen with it in a call that gives a row for each. */
  guesses(room: number): number {
    return Math.max(0, ...[...this.whole].filter((size) => size <= room + 1).map((size) => size - 1))
  }
}
