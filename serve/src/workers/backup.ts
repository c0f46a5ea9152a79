import type { ElementArray } from '../protocol/datatypes.js'
import type { SentArgument } from './messages.js'

/** What tensors hold, for the case that a run which changed some of them has to be started again. Memory of earlier ones is used again. */
export class Backup {
  private readonly copies: ElementArray[] = []

  save(args: readonly SentArgument[]): void {
    for (let i = 0; i < args.length; i++) {
      const data = elementsAt(args, i)
      if (data === null) continue
      const copy = this.copies[i]
      if (copy?.constructor === data.constructor && copy.length === data.length) fill(copy, data)
      else this.copies[i] = data.slice()
    }
  }

  /** Of what was saved last. */
  restore(args: readonly SentArgument[]): void {
    for (let i = 0; i < args.length; i++) {
      const data = elementsAt(args, i)
      if (data !== null) fill(data, this.copies[i]!)
    }
  }
}

function elementsAt(args: readonly SentArgument[], i: number): ElementArray | null {
  const each = args[i] ?? null
  return each !== null && 'data' in each ? each.data : null
}

/** Both are of one class. */
function fill(to: ElementArray, from: ElementArray): void {
  ;(to as Float32Array).set(from as Float32Array)
}
