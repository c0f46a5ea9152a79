import type { MethodEmitter } from './method-emitter.js'

/** What a call does with values of the plan, by their numbers. */
export interface Effects {
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  /** Tensors that it writes to in part, or whose memory others see. */
  readonly updates?: readonly number[]
  /** Results that share memory with an argument. */
  readonly aliases?: readonly (readonly [from: number, to: number])[]
}

/** What serves the calls of an operator, or of a delegate: it writes them as calls of this runtime's operators. */
export interface Kernel {
  effects(args: readonly number[], plan: Values): Effects
  emit(args: readonly number[], emitter: MethodEmitter): void
  /** Writes what comes before the first instruction. */
  prepare?(args: readonly number[], emitter: MethodEmitter): void
}

/** The values of a plan, as effects see them. */
export interface Values {
  /** The values that a value is made of: the items of a list, or itself. */
  items(index: number): readonly number[]
  isTensor(index: number): boolean
  isNone(index: number): boolean
  /** Both are of one form, and none is dynamic. */
  isAlike(a: number, b: number): boolean
  /** It has memory of its own. */
  isPlaced(index: number): boolean
}
