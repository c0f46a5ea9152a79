/** Finds the first of several strings in a text that comes in pieces, and holds back what may be the beginning of one. */
export class StopStrings {
  private held = ''
  private readonly strings: readonly string[]
  /** The one that was found. */
  found: string | null = null

  constructor(strings: readonly string[]) {
    this.strings = strings.filter((text) => text !== '')
  }

  /** Text that is in none of them, and before the first that was found. */
  push(piece: string): string {
    if (this.found !== null) return ''
    const text = this.held + piece
    let first = Infinity
    for (const string of this.strings) {
      const at = text.indexOf(string)
      if (at < 0 || at >= first) continue
      first = at
      this.found = string
    }
    if (this.found !== null) {
      this.held = ''
      return text.slice(0, first)
    }
    const open = Math.max(0, ...this.strings.map((string) => openEnd(text, string)))
    this.held = text.slice(text.length - open)
    return text.slice(0, text.length - open)
  }

  /** What was held back: nothing follows. */
  end(): string {
    const { held } = this
    this.held = ''
    return held
  }
}

/** How much of the end of `text` is the beginning of `string`. */
function openEnd(text: string, string: string): number {
  for (let length = Math.min(text.length, string.length - 1); length > 0; length--)
    if (text.endsWith(string.slice(0, length))) return length
  return 0
}
