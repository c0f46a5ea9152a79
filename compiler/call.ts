import type { Limits } from '../runtime/limits.js'
import type { Storage } from '../runtime/tensor/storage.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import type { Value } from '../runtime/tensor/value.js'
import type { Plan } from './executor/plan.js'
import { restoredOnFailure } from './memory/contents.js'

/** What stands in place of a method for one signature. */
export interface Call {
  /** Null where the run cannot be captured, and operators are called one by one. */
  readonly plan: Plan | null
  /** Why there is no plan; null for plans. */
  readonly reason: string | null
  /** Operators left after the passes. */
  readonly operators: number
  /** What passes chose, and why. */
  readonly choices: readonly string[]
  /** Inputs whose contents are put back where it fails. */
  readonly kept: readonly number[]
  /** Memory that it reads besides its arguments. */
  constants(): Storage[]
  /** False where arguments share memory in a way that it cannot serve. */
  accepts(inputs: readonly Tensor[]): boolean
  run(inputs: readonly Tensor[]): Value
  /** As `run`, on another native thread; null where no plan can take these inputs. */
  runAsync(inputs: readonly Tensor[], signal?: AbortSignal, limits?: Limits): Promise<Value> | null
  /** Gives back what was made for it. */
  dispose(): void
}

/** A plan that another thread made, and whose constants it holds. */
export class DeliveredCall implements Call {
  readonly reason = null

  constructor(
    readonly plan: Plan,
    readonly operators: number,
    readonly choices: readonly string[],
    readonly kept: readonly number[],
  ) {}

  constants(): Storage[] {
    return this.plan.captured.constants.map(({ storage }) => storage)
  }

  accepts(inputs: readonly Tensor[]): boolean {
    return this.plan.accepts(inputs)
  }

  run(inputs: readonly Tensor[]): Value {
    return restoredOnFailure(
      this.kept.map((i) => inputs[i]!),
      () => this.plan.run(inputs),
    )
  }

  runAsync(inputs: readonly Tensor[], signal?: AbortSignal, limits?: Limits): Promise<Value> | null {
    return this.plan.accepts(inputs) ? this.plan.runAsync(inputs, signal, limits, this.kept) : null
  }

  dispose(): void {
    this.plan.dispose()
  }
}
