import type { SentArgument } from './messages.js'

/** What tensors hold, for the case that a run which changed some of them has to be started again. Memory of earlier ones is used again. */
export class Backup {
  private memory = new Uint8Array(0)

  save(args: readonly SentArgument[]): void {
    const tensors = bytesOf(args)
    const bytes = tensors.reduce((sum, each) => sum + each.length, 0)
    if (bytes > this.memory.length) this.memory = new Uint8Array(bytes)
    let at = 0
    for (const each of tensors) {
      this.memory.set(each, at)
      at += each.length
    }
  }

  /** Of what was saved last. */
  restore(args: readonly SentArgument[]): void {
    let at = 0
    for (const each of bytesOf(args)) {
      each.set(this.memory.subarray(at, at + each.length))
      at += each.length
    }
  }
}

function bytesOf(args: readonly SentArgument[]): Uint8Array[] {
  const found: Uint8Array[] = []
  for (const each of args) if (each !== null && 'buffer' in each) found.push(new Uint8Array(each.buffer, each.offset, each.bytes))
  return found
}
