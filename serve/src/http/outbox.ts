import type { ServerResponse } from 'node:http'

/** Milliseconds that an answer waits at most for those behind it. */
const MAX_WAIT = 1

/**
 * Writes the answers that one turn of the event loop finds together at its end. Each write may wake whoever waits for it, which takes the time
 * of a small model where that is a process of the same machine; of writes that follow each other at once only the first does.
 */
export class Outbox {
  private waiting: ServerResponse[] = []
  private bodies: (string | Buffer)[] = []
  private since = 0

  /** `clock`: milliseconds. */
  constructor(private readonly clock = (): number => performance.now()) {}

  /** Ends an answer whose head has been given. */
  end(response: ServerResponse, body: string | Buffer): void {
    const now = this.clock()
    if (this.waiting.length === 0) {
      this.since = now
      setImmediate(this.flush)
    }
    this.waiting.push(response)
    this.bodies.push(body)
    if (now - this.since > MAX_WAIT) this.flush()
  }

  private readonly flush = (): void => {
    const { waiting, bodies } = this
    if (waiting.length === 0) return
    this.waiting = []
    this.bodies = []
    for (let i = 0; i < waiting.length; i++) if (!waiting[i]!.destroyed) waiting[i]!.end(bodies[i])
  }
}
