import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOperator } from './operators.js'

/** Tensors one after the other along `dim`, in which alone their sizes may differ (`torch.cat`). Throws INVALID_ARGUMENT, DISPOSED. */
export function cat(tensors: readonly Tensor[], dim = 0): Tensor {
  return callOperator<Tensor>('aten::cat', [tensors, dim])
}

/** Tensors of one shape side by side along a new dimension `dim` (`torch.stack`). Throws INVALID_ARGUMENT, DISPOSED. */
export function stack(tensors: readonly Tensor[], dim = 0): Tensor {
  return callOperator<Tensor>('aten::stack', [tensors, dim])
}
