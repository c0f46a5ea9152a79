import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Marks } from './marks.js'

/** What was seen of a bundle while models were loaded and ran. */
export interface Observation {
  /** Indices of parts that ran while models were loaded, and while they ran. */
  readonly loaded: ReadonlySet<number>
  readonly called: ReadonlySet<number>
  /** Opcodes of instructions in the models, whether they ran or not. */
  readonly opcodes: ReadonlySet<number>
  /** Names of classes of which loaded models have instances. */
  readonly living: ReadonlySet<string>
}

/** Takes down what a marked bundle notes. */
export class Observer {
  readonly seen = { loaded: new Set<number>(), called: new Set<number>(), living: new Set<string>(), opcodes: new Set<number>() }

  constructor(private readonly marks: Marks) {}

  /** To be called when models were loaded, and are alive. */
  async loaded(): Promise<void> {
    this.take(this.seen.loaded)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    // what a task has touched stays until it ends
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    for (const [name, instance] of this.marks.ptliteMade) if (instance.deref() !== undefined) this.seen.living.add(name)
  }

  /** To be called when they ran. */
  called(): void {
    this.take(this.seen.called)
  }

  private take(into: Set<number>): void {
    for (const index of this.marks.ptliteEntered) into.add(index)
    this.marks.ptliteEntered.clear()
  }
}
