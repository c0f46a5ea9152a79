import type { Openable } from '../containers/bytes.js'

/** How a model file is opened. */
export interface OpenOptions {
  /** false: the file is read into memory; see openSource. */
  readonly map?: boolean
  /** Checksums of tensors are checked, too, where the file has them. */
  readonly verify?: boolean
}

/** How a model file is read. */
export interface ReadOptions extends OpenOptions {
  readonly limits?: ReadLimits
  /** Files with data that belong to the model. */
  readonly data?: readonly Openable[]
  /** Nothing of it is going to run: what cannot be is no error. */
  readonly onlyLooks?: boolean
}

/** What reading one file may take. */
export interface ReadLimits {
  /** Milliseconds of work, other work of the thread between its steps left out: a minute by default. */
  readonly milliseconds?: number
  /** The same as `objects`, as a limit of the load: LIMIT_EXCEEDED beyond. */
  readonly elements?: number
  /** Objects and items: numbers, texts, lists, entries of dicts, tensors; by default in proportion to the size of the file (value-budget.ts). */
  readonly objects?: number
}
