/** Which blocks of the readers ran: scripts/fuzz.mjs puts a mark into each when it bundles them. */
const BLOCKS = 'ptliteBlocks'

/** Tells whether a run reached blocks that none before it did. */
export class Coverage {
  private readonly seen: Uint8Array
  /** Blocks that were reached. */
  reached = 0

  private constructor(private readonly blocks: Uint8Array) {
    this.seen = new Uint8Array(blocks.length)
  }

  /** Null where nothing is marked. */
  static open(): Coverage | null {
    const blocks: unknown = Reflect.get(globalThis, BLOCKS)
    return blocks instanceof Uint8Array ? new Coverage(blocks) : null
  }

  /** Whether there are new blocks since the last question. */
  isNew(): boolean {
    const { blocks, seen } = this
    const before = this.reached
    for (let i = 0; i < blocks.length; i++) {
      if (blocks[i] === 0) continue
      blocks[i] = 0
      if (seen[i] !== 0) continue
      seen[i] = 1
      this.reached++
    }
    return this.reached > before
  }
}
