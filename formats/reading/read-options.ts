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
}

/** What the values of one file may take; by default in proportion to its size (value-budget.ts). */
export interface ReadLimits {
  /** Objects and items: numbers, texts, lists, entries of dicts, tensors. */
  readonly objects?: number
}
