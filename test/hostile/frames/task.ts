/** What a child does: rounds of a seed, until a time is over. */
export interface Task {
  readonly seed: number
  readonly from: number
  readonly to: number
  readonly milliseconds: number
  readonly kernels: readonly string[]
  /** Kernels that are left out of the rounds. */
  readonly skip: readonly string[]
  /** A file, whose first 8 bytes have the number of the round under way. */
  readonly progress: string
}

export interface Report {
  /** Frames by kernel. */
  readonly launched: Record<string, number>
  /** Frames by how they ended: 'ok', or the code of the error. */
  readonly statuses: Record<string, number>
  /** The round to go on with. */
  next: number
}
