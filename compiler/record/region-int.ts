import { CustomObject } from '../../runtime/tensor/value.js'

/** Where a number comes from: the state at the start of a region, or a step of its prologue. */
export interface IntSource {
  readonly kind: 'int' | 'computed'
  readonly index: number
}

/**
 * Stands for an int of a recorded run that may be another one in the next run: operators are given its value, and whatever they make of
 * it is known to depend on it. It never leaves the recording.
 */
export class TracedInt extends CustomObject {
  constructor(
    readonly value: number,
    readonly source: IntSource,
  ) {
    super('int', null)
  }
}
