import { CustomObject, type Value } from '../../../runtime/tensor/value.js'
import { damaged } from '../../../program/file-error.js'

/** A name that a pickle calls or instantiates, or that stands for an enum value; with its module, `torch._utils._rebuild_tensor_v2`. */
export class PickleGlobal extends CustomObject {
  constructor(
    name: string,
    /** What calling it gives. */
    readonly invoke = (_args: readonly Value[]): Value => {
      throw damaged(`'${name}' cannot be called`)
    },
  ) {
    super(name, null)
  }
}

/** Quantization schemes; the match says whether they are per tensor or per channel, and nothing of those with zero points in floats. */
export const SCHEME = /^torch\.per_(?:(tensor|channel)_(?:affine|symmetric)|channel_affine_float_qparams)$/
