/** What a child is to do. */
export interface Job {
  readonly target: string
  readonly seed: number
  /** Numbers of mutants: the first, and the one behind the last. */
  readonly from: number
  readonly to: number
  /** When to stop, whether or not all are done; null for never. */
  readonly until: number | null
  /** Mutants that reach new code become files that others are made of. */
  readonly guided: boolean
  /** Changes that are made, as bits. */
  readonly mask: number
  /** Folder for the files below. */
  readonly folder: string
}

/** The mutant that a child is at, as JSON. */
export interface Current {
  readonly index: number
  readonly base: string
  readonly choice: number
  /** Changes that it was made with. */
  readonly steps: number
}

/** Files of a child: what it is at, and the outcomes of earlier mutants. */
export const CURRENT = 'current.json'
export const CURRENT_BYTES = 'current.bin'
export const STATISTICS = 'statistics.json'
export const FAULTS = 'faults.jsonl'

/** Length of the first one, so that it can be written anew in place. */
export const CURRENT_LENGTH = 256

export interface Statistics {
  readonly done: number
  readonly outcomes: Readonly<Record<string, number>>
  /** Blocks of the readers that were reached; 0 where they are not marked. */
  readonly blocks: number
  /** Mutants that others were made of. */
  readonly kept: number
  /** Milliseconds that the slowest mutant took, and which. */
  readonly slowest: readonly [milliseconds: number, index: number]
}

/** What should not have happened. */
export interface Fault extends Current {
  readonly kind: 'error' | 'crash' | 'hang' | 'memory' | 'growth'
  /** The same for the same fault, as far as can be told. */
  readonly signature: string
  readonly text: string
}

/** Exit status of a child whose mutators fail. */
export const BROKEN = 3
