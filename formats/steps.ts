/** Work in steps, between which a thread may turn to other work, and its result. */
export type Steps<T> = Generator<void, T, void>

/** Takes all steps at once. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
