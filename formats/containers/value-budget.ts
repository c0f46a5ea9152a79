import { damaged } from '../../program/file-error.js'

/** Objects that any file may make. */
const LEAST = 2 ** 16
/** And that each byte of it may make. PyTorch writes at least one byte for each object and item, and compresses nothing but source code. */
const PER_BYTE = 4

/**
 * What the values of one file may take. A few bytes can stand for a whole list, dict or function that was described once: without a limit small
 * files would fill all memory. What an object counts, in items of lists, is about what it takes.
 */
export class ValueBudget {
  private remaining: number

  /** `objects`: how many there may be, in place of the number that goes with the size of the file. */
  constructor(
    bytes: number,
    private readonly objects = LEAST + PER_BYTE * bytes,
  ) {
    this.remaining = objects
  }

  /** Throws INVALID_FILE where the file has made too many. */
  spend(count: number): void {
    if ((this.remaining -= count) < 0)
      throw damaged(
        `its values are more than ${this.objects} objects, many times what its bytes tell; if it is from a source that you trust, raise limits.objects`,
      )
  }

  /** Spends up to `most`, at least one, and says how many. */
  take(most: number): number {
    const count = Math.max(Math.min(most, this.remaining), 1)
    this.spend(count)
    return count
  }

  /** For bytes of copies. */
  spendBytes(count: number): void {
    this.spend(Math.ceil(count / 8))
  }
}
