import type { ThreadExports } from '../exports.js'
import { beginThread, type Shared } from './begin-thread.js'

/**
 * Threads that take parts of the kernels that others run. Each begins once the event loop has had its turn; kernels go on without those that have not.
 * Then they sleep in the kernels' own code until there is work for them.
 */
export class Helpers {
  private wanted = 0
  private readonly starting = new Set<Promise<void>>()

  constructor(
    private readonly shared: Shared,
    /** Where a thread is refused, or has ended by a trap. */
    private readonly failed: (reason: string, hasBegun: boolean) => void,
  ) {}

  /** There are to be so many. */
  want(count: number): void {
    if (count < this.wanted) (this.shared.kernels.exports as ThreadExports).ptlite_dismiss(this.wanted - count)
    const more = count - this.wanted
    this.wanted = count
    for (let i = 0; i < more; i++) this.begin()
  }

  /** Fulfils once all have begun, or been refused. */
  async begun(): Promise<void> {
    while (this.starting.size > 0) await Promise.all(this.starting)
  }

  private begin(): void {
    let hasBegun = false
    const start = new Promise<void>((resolve) => {
      const begun = (): void => {
        hasBegun = true
        resolve()
      }
      const failed = (reason: string): void => {
        this.failed(reason, hasBegun)
        resolve()
      }
      beginThread(this.shared, true, { begun, failed, ended: resolve, status: () => undefined })
    }).finally(() => this.starting.delete(start))
    this.starting.add(start)
  }
}
