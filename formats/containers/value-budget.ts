import { damaged } from '../../program/file-error.js'
import { type Limited, limitError } from '../../runtime/limits.js'
import { pace } from '../../runtime/pace.js'

/** Objects that any file may make. */
const LEAST = 2 ** 16
/** And that each byte of it may make. PyTorch writes at least one byte for each object and item, and compresses nothing but source code. */
const PER_BYTE = 4

/**
 * What the values of one file may take. A few bytes can stand for a whole list, dict or function that was described once: without a limit small
 * files would fill all memory. What an object counts, in items of lists, is about what it takes.
 */
export class ValueBudget {
  private spent = 0

  /** `objects`: how many there may be, in place of the number that goes with the size of the file; `elements`: the same as a limit of `who`. */
  constructor(
    bytes: number,
    private readonly objects = LEAST + PER_BYTE * bytes,
    private readonly elements = Infinity,
    private readonly who: Limited = 'loading the module',
  ) {}

  /** Throws INVALID_FILE where the file has made too many, LIMIT_EXCEEDED where the caller allows no more, or there is no time. */
  spend(count: number): void {
    this.spent += count
    pace(Math.max(count, 0))
    if (this.spent > this.elements) throw limitError(this.who, 'elements', this.elements)
    if (this.spent > this.objects)
      throw damaged(
        `its values are more than ${this.objects} objects, many times what its bytes tell; if it is from a source that you trust, raise limits.objects`,
      )
  }

  /** Spends up to `most`, at least one, and says how many. */
  take(most: number): number {
    const count = Math.max(Math.min(most, this.objects - this.spent, this.elements - this.spent), 1)
    this.spend(count)
    return count
  }

  /** For bytes of copies. */
  spendBytes(count: number): void {
    this.spend(Math.ceil(count / 8))
  }
}
