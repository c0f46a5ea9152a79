import { check } from '../../error.js'
import { wrapDim } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { contiguousCopy, copyInto, laidOutInRows } from '../support/copy.js'
import { writeOut } from '../support/write-out.js'
import type { Composite } from '../support/generated/interfaces.js'
import { reshape } from './views.js'
import * as at from '../generated/dispatch.js'

/** One copy of a channel vector per image, as [n * c]. */
function perImage(t: Tensor, batch: number): Tensor {
  const channels = t.shape[0]!
  const copies = contiguousCopy(viewOf(t, [batch, channels], [0, t.strides[0]!]))
  return viewOf(copies, [batch * channels], [1])
}

function foldImages(t: Tensor, copies: Tensor, batch: number): void {
  const channels = t.shape[0]!
  copyInto(t, at.mean_dim(viewOf(copies, [batch, channels], [channels, 1]), [0], false, null))
}

/** torch.instance_norm: statistics of each channel of each image, or the running ones. */
export const instance_norm: Composite['instance_norm'] = (input, weight, bias, runningMean, runningVar, useInputStats, momentum, eps) => {
  check(input.dim >= 2, () => `instance_norm: expected an input with 2 or more dimensions, found shape [${input.shape.join(', ')}]`)
  check(
    useInputStats || (runningMean !== null && runningVar !== null),
    () => 'instance_norm: expected running_mean and running_var when use_input_stats is false',
  )
  if (!useInputStats) return laidOutInRows(at.batch_norm(input, weight, bias, runningMean, runningVar, false, momentum, eps, false))
  const channels = input.shape[1]!
  if (runningMean !== null || runningVar !== null) {
    const batch = input.shape[0]!
    const means = runningMean === null ? null : perImage(runningMean, batch)
    const variances = runningVar === null ? null : perImage(runningVar, batch)
    const images = reshape(input, [1, batch * channels, ...input.shape.slice(2)])
    at.native_batch_norm(images, null, null, means, variances, true, momentum, eps)
    if (runningMean !== null) foldImages(runningMean, means!, batch)
    if (runningVar !== null) foldImages(runningVar, variances!, batch)
  }
  return laidOutInRows(at.group_norm(input, channels, weight, bias, eps, false))
}

/** Norm of order `pow` of each slice of v along `dim`, the other dimensions of size 1; of all of v for -1. */
export function norm_except_dim(v: Tensor, pow: number, dim: number): Tensor {
  if (dim === -1) return at.norm_Scalar(v, pow)
  const kept = wrapDim(dim, v.dim)
  const others = v.shape.map((_, d) => d).filter((d) => d !== kept)
  if (others.length === 0) return at.abs(v)
  return at.norm_ScalarOpt_dim(v, pow, others, true)
}

/** v scaled so that each slice along `dim` has the norm that g says. */
export function _weight_norm(v: Tensor, g: Tensor, dim: number): Tensor {
  return at.mul_Tensor(v, at.div_Tensor(g, norm_except_dim(v, 2, dim)))
}

/** _weight_norm, and the norms of v. */
export function _weight_norm_interface(v: Tensor, g: Tensor, dim: number, out0?: Tensor, out1?: Tensor): [Tensor, Tensor] {
  const norms = norm_except_dim(v, 2, dim)
  return [writeOut(at.mul_Tensor(v, at.div_Tensor(g, norms)), out0), writeOut(norms, out1)]
}
