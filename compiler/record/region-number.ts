import type { Float } from '../../runtime/tensor/scalar.js'
import { CustomObject } from '../../runtime/tensor/value.js'

/** Where a number comes from: the state at the start of a region, or a step of its prologue. */
export interface NumberSource {
  readonly kind: 'int' | 'computed'
  readonly index: number
}

/**
 * Stands for an int of a recorded run that may be another one in the next run, or for a float where these are followed, too: operators are given its value, and whatever they make of
 * it is known to depend on it. It never leaves the recording.
 */
export class TracedNumber extends CustomObject {
  constructor(
    readonly value: number | Float,
    readonly source: NumberSource,
  ) {
    super('number', null)
  }
}
