import { CustomObject, type Value } from '../tensor/value.js'

/** A name that a pickle calls or instantiates, or that stands for an enum value. */
export class PickleGlobal extends CustomObject {
  constructor(
    /** With its module: `torch._utils._rebuild_tensor_v2`. */
    name: string,
    /** `name(*args)`, for those that can be called. */
    readonly call: ((args: readonly Value[]) => Value) | null = null,
    /** How many arguments it takes; -1 for any number. */
    readonly argCount = -1,
  ) {
    super(name, null)
  }
}

/** Quantization schemes; the match says whether they are per tensor or per channel, and nothing of those with zero points in floats. */
export const SCHEME = /^torch\.per_(?:(tensor|channel)_(?:affine|symmetric)|channel_affine_float_qparams)$/
