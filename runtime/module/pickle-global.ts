import { CustomObject } from '../tensor/value.js'

/** A name that a pickle calls or instantiates, or that stands for an enum value. */
export class PickleGlobal extends CustomObject {
  constructor(
    readonly module: string,
    readonly name: string,
  ) {
    super(`${module}.${name}`, null)
  }
}

/** Quantization schemes, which pickles name as globals of torch. */
export const SCHEMES = new Set([
  'per_tensor_affine', 'per_channel_affine', 'per_tensor_symmetric', 'per_channel_symmetric', 'per_channel_affine_float_qparams',
]) // prettier-ignore
