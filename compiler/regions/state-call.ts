import type { Limits } from '../../runtime/limits.js'
import { Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import type { DeliveredCall } from '../call.js'
import { haveRounded } from '../compiled-call.js'
import type { Guards } from '../record/guards.js'
import type { Place } from '../record/module-parts.js'
import { fitsTensor, type TensorShape } from '../record/signature.js'

/** An attribute that a plan reads or writes to, and the form of the tensor that it was made for. */
export interface StateInput extends Place {
  readonly form: TensorShape
}

/** The plan of a whole method that reads or writes state of its module (`wholePlan`), as another thread made it. */
export class StateCall {
  constructor(
    /** Its inputs are the tensors of the arguments, and those of `state` behind them. */
    readonly call: DeliveredCall,
    private readonly guards: Guards,
    private readonly state: readonly StateInput[],
  ) {}

  /** Starts a call on another native thread, for tensors of arguments that fit; null where it is not for the state that the module has now. */
  start(given: readonly Tensor[], signal?: AbortSignal, limits?: Limits): Promise<Value> | null {
    const { call, guards } = this
    if (!guards.hold()) return null
    const inputs = [...given]
    for (const { object, slot, form } of this.state) {
      const value = object.slots[slot]
      if (!(value instanceof Tensor) || value.isSparse || !fitsTensor(value, form)) return null
      inputs.push(value)
    }
    // plans tell inputs from constants by where they lie
    return guards.shareMemory(inputs) || haveRounded(inputs) ? null : call.runAsync(inputs, signal, limits)
  }
}
