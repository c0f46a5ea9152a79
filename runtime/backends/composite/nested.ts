import { PtliteError } from '../../error.js'
import type { Tensor } from '../../tensor/tensor.js'

/** Whether a mask can make a nested tensor. No: the encoders that ask then go on with the padded tensor and its mask. */
export function _nested_tensor_from_mask_left_aligned(_t: Tensor, _mask: Tensor): boolean {
  return false
}

function unsupported(operator: string): never {
  throw new PtliteError('UNSUPPORTED_DTYPE', `${operator}: nested tensors are not supported; use padded tensors with a mask`)
}

export function _nested_tensor_from_mask(_t: Tensor, _mask: Tensor, _maskCheck: boolean): Tensor {
  return unsupported('_nested_tensor_from_mask')
}

export function to_padded_tensor(_self: Tensor, _padding: number, _outputSize: number[] | null): Tensor {
  return unsupported('to_padded_tensor')
}
