/*
 * What waits for parts of the library before it calls them. In Node they are loaded when they are called, and nothing has to be waited for; web/parts/ready.ts stands
 * for this file where it has.
 */

/** undefined where nothing has to be waited for. */
export type Waiting = Promise<void> | undefined

/** What reads models, and runs them. */
export function modelsReady(): Waiting {
  return undefined
}

/** The reader of a format. */
export function formatReady(_name: string): Waiting {
  return undefined
}

/** The compiler. */
export function compilerReady(): Waiting {
  return undefined
}

/** Whether the compiler can be called; where it cannot be yet, it is being loaded from now on. */
export function compilerAtHand(): boolean {
  return true
}

/** Does work on a source that can be done again from its beginning, when what it comes to is there. */
export function whenLoaded<T>(_source: unknown, work: () => Promise<T>): Promise<T> {
  return work()
}
