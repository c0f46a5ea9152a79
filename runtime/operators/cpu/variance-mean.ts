import type { Scalar } from '../../tensor/scalar.js'
import type { Tensor } from '../../tensor/tensor.js'
import { type Dims, freedom, moments } from './variance.js'

function both(self: Tensor, dims: Dims, correction: number, keepdim: boolean, root: boolean): [Tensor, Tensor] {
  const [spread, mean] = moments(self, dims, correction, keepdim, root, true)
  return [spread, mean!]
}

export function var_mean(self: Tensor, unbiased: boolean): [Tensor, Tensor] {
  return both(self, null, Number(unbiased), false, false)
}

export function var_mean_dim(self: Tensor, dim: number[] | null, unbiased: boolean, keepdim: boolean): [Tensor, Tensor] {
  return both(self, dim, Number(unbiased), keepdim, false)
}

export function var_mean_correction(self: Tensor, dim: number[] | null, correction: Scalar | null, keepdim: boolean): [Tensor, Tensor] {
  return both(self, dim, freedom(correction), keepdim, false)
}

export function std_mean(self: Tensor, unbiased: boolean): [Tensor, Tensor] {
  return both(self, null, Number(unbiased), false, true)
}

export function std_mean_dim(self: Tensor, dim: number[] | null, unbiased: boolean, keepdim: boolean): [Tensor, Tensor] {
  return both(self, dim, Number(unbiased), keepdim, true)
}

export function std_mean_correction(self: Tensor, dim: number[] | null, correction: Scalar | null, keepdim: boolean): [Tensor, Tensor] {
  return both(self, dim, freedom(correction), keepdim, true)
}
