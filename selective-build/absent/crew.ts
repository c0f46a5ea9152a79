import type * as whole from '../../runtime/native/wasm/threads/crew.js'

/** Selective builds have one thread. */
export const mostThreads = (): number => 1

export class Crew implements Pick<whole.Crew, 'want' | 'begun' | 'launch' | 'write'> {
  constructor(..._of: unknown[]) {}

  want(): void {}

  begun(): Promise<void> {
    return Promise.resolve()
  }

  launch(): Promise<number> {
    return Promise.resolve(0)
  }

  write(): void {}
}
