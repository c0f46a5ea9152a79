import type { PtliteError } from '../../runtime/error.js'
import { pace } from '../../runtime/pace.js'
import { damaged, unsupported } from '../../program/file-error.js'

/** Characters of a line that messages show. */
const MAX_SHOWN = 160

/** One file of code of an archive. */
export class SourceFile {
  /** Places of the line ends; looked for when a place is asked for. */
  private lineEnds: number[] | undefined

  constructor(
    /** Of the record: `code/__torch__/net.py`. */
    readonly path: string,
    readonly text: string,
  ) {}

  /** The line that a character is on, from 1. */
  lineOf(offset: number): number {
    const ends = (this.lineEnds ??= this.findLineEnds())
    // how many of them stand before
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }

  private findLineEnds(): number[] {
    const ends: number[] = []
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) {
      pace()
      ends.push(at)
    }
    return ends
  }

  /** The text of the line that a character is on, and the column of the character in it, from 0. */
  lineTextAt(offset: number): { readonly text: string; readonly column: number } {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1
    const end = this.text.indexOf('\n', offset)
    return { text: this.text.slice(start, end < 0 ? undefined : end), column: offset - start }
  }

  /** The code is not what TorchScript writes, at this character. */
  wrong(offset: number, message: string): PtliteError {
    return damaged(this.placed(offset, message))
  }

  /** The code is TorchScript, but of a kind that this runtime does not run. */
  unsupported(offset: number, message: string): PtliteError {
    return unsupported(this.placed(offset, message))
  }

  private placed(offset: number, message: string): string {
    const { text, column } = this.lineTextAt(offset)
    const from = Math.max(0, column - MAX_SHOWN / 2)
    return `${this.path}, line ${this.lineOf(offset)}: ${message}\n    ${text.slice(from, from + MAX_SHOWN).trim()}`
  }
}
