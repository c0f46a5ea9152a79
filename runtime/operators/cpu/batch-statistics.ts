import { check } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, copyInto } from '../support/copy.js'
import { writeOut, writeOutInRows } from '../support/write-out.js'
import { computeType, dense } from '../support/real.js'
import type { CPU } from '../support/generated/interfaces.js'
import { variance_correction } from './variance.js'
import { applyBatchNorm, checkBatchNorm, inference, innerOf, parameterType } from './support/batch-norm.js'

/** Mean and 1 / deviation of each channel; moves the running statistics towards them. */
function batchStatistics(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  momentum: number,
  eps: number,
): [Tensor, Tensor] {
  check(input.numel > 0, () => `batch_norm: an input of shape [${input.shape.join(', ')}] has no statistics`)
  const inner = computeType(input.type)
  const channels = input.shape[1]!
  const mean = empty([channels], inner)
  const invstd = empty([channels], inner)
  const x = dense(input, inner)
  const movedMean = runningMean === null ? null : dense(runningMean, inner)
  const movedVar = runningVar === null ? null : dense(runningVar, inner)
  kernels.batch_norm_stats({
    dtype: inner,
    outer: input.shape[0]!,
    channels,
    inner: innerOf(input),
    input: x.address,
    mean: mean.address,
    invstd: invstd.address,
    running_mean: movedMean === null ? 0 : movedMean.address,
    running_var: movedVar === null ? 0 : movedVar.address,
    eps,
    momentum,
  })
  for (const [kept, moved] of [
    [runningMean, movedMean],
    [runningVar, movedVar],
  ] as const) {
    if (kept === null || moved === null) continue
    if (kept === moved) kept.storage.version++
    else copyInto(kept, moved)
  }
  return [mean, invstd]
}

/** Batch normalisation and the statistics that a training step keeps: empty tensors in inference. */
export function native_batch_norm(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  training: boolean,
  momentum: number,
  eps: number,
  out?: Tensor,
  saveMean?: Tensor,
  saveInvstd?: Tensor,
): [Tensor, Tensor, Tensor] {
  const operator = 'batch_norm'
  checkBatchNorm(operator, input, weight, bias, runningMean, runningVar)
  const type = parameterType(input, weight ?? bias ?? runningMean ?? runningVar)
  if (!training) {
    const result = inference(operator, input, weight, bias, runningMean, runningVar, eps)
    return [writeOutInRows(result, out), writeOut(empty([0], type), saveMean), writeOut(empty([0], type), saveInvstd)]
  }
  const [mean, invstd] = batchStatistics(input, runningMean, runningVar, momentum, eps)
  const result = applyBatchNorm(input, weight, bias, mean, invstd, true, eps)
  return [writeOutInRows(result, out), writeOut(castTo(mean, type), saveMean), writeOut(castTo(invstd, type), saveInvstd)]
}

/** native_batch_norm without running statistics, so only in training. */
export const _native_batch_norm_legit_no_stats: CPU['_native_batch_norm_legit_no_stats'] = (
  input,
  weight,
  bias,
  training,
  momentum,
  eps,
  out,
  saveMean,
  saveInvstd,
) => native_batch_norm(input, weight, bias, null, null, training, momentum, eps, out, saveMean, saveInvstd)

export const _native_batch_norm_legit_no_training: CPU['_native_batch_norm_legit_no_training'] = (
  input,
  weight,
  bias,
  runningMean,
  runningVar,
  momentum,
  eps,
) => native_batch_norm(input, weight, bias, runningMean, runningVar, false, momentum, eps)

/** What a backward pass would need beside the statistics: nothing on the CPU. */
function noReserve(): Tensor {
  return empty([0], DType.uint8)
}

/** native_batch_norm in training, with the reserve that other devices fill. */
export function _batch_norm_with_update(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor,
  runningVar: Tensor,
  momentum: number,
  eps: number,
  out?: Tensor,
  saveMean?: Tensor,
  saveInvstd?: Tensor,
  reserve?: Tensor,
): [Tensor, Tensor, Tensor, Tensor] {
  const results = native_batch_norm(input, weight, bias, runningMean, runningVar, true, momentum, eps, out, saveMean, saveInvstd)
  return [...results, writeOut(noReserve(), reserve)]
}

/** native_batch_norm with the running statistics, which stay as they are. */
export const _batch_norm_no_update: CPU['_batch_norm_no_update'] = (input, weight, bias, runningMean, runningVar, momentum, eps) => [
  ...native_batch_norm(input, weight, bias, runningMean, runningVar, false, momentum, eps),
  noReserve(),
]

/** Mean and variance (not corrected) of each channel; running statistics move towards them, the variance corrected. */
export const batch_norm_update_stats: CPU['batch_norm_update_stats'] = (input, runningMean, runningVar, momentum) => {
  checkBatchNorm('batch_norm_update_stats', input, null, null, runningMean, runningVar)
  const [mean] = batchStatistics(input, runningMean, runningVar, momentum, 0)
  const others = input.shape.map((_, d) => d).filter((d) => d !== 1)
  const type = parameterType(input, runningMean ?? runningVar)
  return [castTo(mean, type), castTo(variance_correction(castTo(input, mean.type), others, 0, false), type)]
}

/** native_batch_norm with what a backward pass would need: nothing, and backend 0. */
export const _batch_norm_impl_index: CPU['_batch_norm_impl_index'] = (
  input,
  weight,
  bias,
  runningMean,
  runningVar,
  training,
  momentum,
  eps,
) => {
  const [result, mean, invstd] = native_batch_norm(input, weight, bias, runningMean, runningVar, training, momentum, eps)
  return [result, mean, invstd, noReserve(), 0]
}
