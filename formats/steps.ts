import type { Waiting } from '../runtime/chunk.js'

/** Work in steps, between which a thread may turn to other work, and its result. Some steps have to wait for parts of the library (runtime/chunk.ts). */
export type Steps<T> = Generator<Waiting, T, void>

/** Takes all steps at once, where no part has to be waited for. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Takes them one after the other, and waits for what they need. */
export async function stepByStep<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (value !== undefined) await value
  }
}
