import type { MethodEmitter } from './method-emitter.js'
import type { Effects, Values } from './variables.js'

/** What serves the calls of an operator, or of a delegate: it writes them as calls of this runtime's operators. */
export interface Kernel {
  effects(args: readonly number[], plan: Values): Effects
  emit(args: readonly number[], emitter: MethodEmitter): void
  /** Writes what comes before the first instruction. */
  prepare?(args: readonly number[], emitter: MethodEmitter): void
  /** Of a delegate: elements of the values that its graph has, by the sizes that the file says of them. */
  readonly elements?: number
}
