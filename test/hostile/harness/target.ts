import type { Random } from '../random.js'

/** A file that mutants are made of. */
export interface Base {
  readonly name: string
  readonly bytes: Buffer
}

/** What is fuzzed: how mutants are made, and what is done with each. */
export interface Target {
  /** Files that mutants are made of. */
  readonly bases: readonly Base[]
  /** One change; `bytes` are not written to. */
  mutate(bytes: Buffer, random: Random): Buffer
  /**
   * Does all that a program could do with the bytes. Gives the outcome: `ran`, or the code of a PtliteError. Throws what no library should.
   * `choice` decides what is done, where there is a choice.
   */
  run(bytes: Buffer, base: Base, choice: number): Promise<string>
}
