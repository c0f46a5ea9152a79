import { Float } from '../../tensor/scalar.js'
import type { Stack, Value } from '../../tensor/value.js'

/** Puts a result on the stack. */
export function give(s: Stack, value: Value): void {
  s.values[s.top++] = value
}

/** Puts several results on the stack, the first one lowest. */
export function giveAll(s: Stack, values: readonly Value[]): void {
  for (let i = 0; i < values.length; i++) s.values[s.top++] = values[i]!
}

export function giveFloat(s: Stack, value: number): void {
  s.values[s.top++] = new Float(value)
}

export function giveFloatOrNull(s: Stack, value: number | null): void {
  s.values[s.top++] = value === null ? null : new Float(value)
}

export function giveFloats(s: Stack, values: readonly number[]): void {
  s.values[s.top++] = values.map((value) => new Float(value))
}
