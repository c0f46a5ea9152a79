import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { numelOf } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, copyInto } from './support/copy.js'
import { deliver } from './support/deliver.js'
import { checkReal, computeType, dense, denseAddress } from './support/real.js'
import { variance_correction } from './variance.js'

/** float32 or float64 parameters of half inputs stay in float32. */
function parameterType(input: Tensor, other: Tensor | null): DType {
  return other === null ? input.type : other.type
}

/** Parameters are of one dtype: the input's, or float32 for half inputs. */
function checkParameterTypes(operator: string, input: Tensor, parameters: readonly (Tensor | null)[]): void {
  let type: DType | null = null
  for (const t of parameters) {
    if (t === null) continue
    const fits = t.type === input.type || (t.type === DType.float32 && computeType(input.type) === DType.float32)
    if (!fits || (type !== null && t.type !== type)) {
      throw new PtliteError('INVALID_DTYPE', `${operator}: expected parameters of dtype ${input.dtype}, found ${t.dtype}`)
    }
    type = t.type
  }
}

function checkChannels(operator: string, name: string, t: Tensor | null, channels: number): void {
  check(
    t === null || t.numel === channels,
    () => `${operator}: expected ${name} with ${channels} elements, found shape [${t === null ? '' : t.shape.join(', ')}]`,
  )
}

function innerOf(t: Tensor): number {
  return numelOf(t.shape.slice(2))
}

function checkBatchNorm(
  operator: string,
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor | null,
  variance: Tensor | null,
): void {
  check(input.dim >= 2, () => `${operator}: expected an input with 2 or more dimensions, found shape [${input.shape.join(', ')}]`)
  checkReal(operator, input.type)
  const channels = input.shape[1]!
  checkChannels(operator, 'weight', weight, channels)
  checkChannels(operator, 'bias', bias, channels)
  checkChannels(operator, 'running_mean', mean, channels)
  checkChannels(operator, 'running_var', variance, channels)
  checkParameterTypes(operator, input, [weight, bias, mean, variance])
}

/** (in - mean) * scale * weight + bias with the mean and variance, or 1 / deviation, of each channel. */
function applyBatchNorm(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  mean: Tensor,
  variance: Tensor,
  inverted: boolean,
  eps: number,
): Tensor {
  const inner = computeType(input.type)
  const result = empty(input.shape, inner)
  if (result.numel > 0) {
    const x = dense(input, inner)
    kernels.batch_norm({
      dtype: inner,
      inverted: inverted ? 1 : 0,
      outer: input.shape[0]!,
      channels: input.shape[1]!,
      inner: innerOf(input),
      input: x.address,
      output: result.address,
      mean: denseAddress(mean, inner),
      var: denseAddress(variance, inner),
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      eps,
    })
  }
  return castTo(result, input.type)
}

/** Mean and 1 / deviation of each channel; moves the running statistics towards them. */
function batchStatistics(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  momentum: number,
  eps: number,
): [Tensor, Tensor] {
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
    return [deliver(result, out), deliver(empty([0], type), saveMean), deliver(empty([0], type), saveInvstd)]
  }
  const [mean, invstd] = batchStatistics(input, runningMean, runningVar, momentum, eps)
  const result = applyBatchNorm(input, weight, bias, mean, invstd, true, eps)
  return [deliver(result, out), deliver(castTo(mean, type), saveMean), deliver(castTo(invstd, type), saveInvstd)]
}

function inference(
  operator: string,
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  eps: number,
): Tensor {
  check(runningMean !== null && runningVar !== null, () => `${operator}: expected running_mean and running_var outside of training`)
  return applyBatchNorm(input, weight, bias, runningMean, runningVar, false, eps)
}

/** native_batch_norm without running statistics, so only in training. */
export function _native_batch_norm_legit_no_stats(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  training: boolean,
  momentum: number,
  eps: number,
  out?: Tensor,
  saveMean?: Tensor,
  saveInvstd?: Tensor,
): [Tensor, Tensor, Tensor] {
  return native_batch_norm(input, weight, bias, null, null, training, momentum, eps, out, saveMean, saveInvstd)
}

export function _native_batch_norm_legit_no_training(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor,
  runningVar: Tensor,
  momentum: number,
  eps: number,
): [Tensor, Tensor, Tensor] {
  return native_batch_norm(input, weight, bias, runningMean, runningVar, false, momentum, eps)
}

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
  return [...results, deliver(noReserve(), reserve)]
}

/** native_batch_norm with the running statistics, which stay as they are. */
export function _batch_norm_no_update(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  momentum: number,
  eps: number,
): [Tensor, Tensor, Tensor, Tensor] {
  return [...native_batch_norm(input, weight, bias, runningMean, runningVar, false, momentum, eps), noReserve()]
}

/** Mean and variance (not corrected) of each channel; running statistics move towards them, the variance corrected. */
export function batch_norm_update_stats(
  input: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  momentum: number,
): [Tensor, Tensor] {
  checkBatchNorm('batch_norm_update_stats', input, null, null, runningMean, runningVar)
  const [mean] = batchStatistics(input, runningMean, runningVar, momentum, 0)
  const others = input.shape.map((_, d) => d).filter((d) => d !== 1)
  const type = parameterType(input, runningMean ?? runningVar)
  return [castTo(mean, type), castTo(variance_correction(castTo(input, mean.type), others, 0, false), type)]
}

/** torch.batch_norm over dimension 1. */
export function batch_norm(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  training: boolean,
  momentum: number,
  eps: number,
  _cudnnEnabled: boolean,
): Tensor {
  if (training) return native_batch_norm(input, weight, bias, runningMean, runningVar, true, momentum, eps)[0]
  checkBatchNorm('batch_norm', input, weight, bias, runningMean, runningVar)
  return inference('batch_norm', input, weight, bias, runningMean, runningVar, eps)
}

/** native_batch_norm with what a backward pass would need: nothing, and backend 0. */
export function _batch_norm_impl_index(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  training: boolean,
  momentum: number,
  eps: number,
  _cudnnEnabled: boolean,
): [Tensor, Tensor, Tensor, Tensor, number] {
  const [result, mean, invstd] = native_batch_norm(input, weight, bias, runningMean, runningVar, training, momentum, eps)
  return [result, mean, invstd, noReserve(), 0]
}

function layerNorm(
  operator: string,
  input: Tensor,
  normalizedShape: readonly number[],
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  statistics: boolean,
): [Tensor, Tensor | null, Tensor | null] {
  const count = normalizedShape.length
  const text = `[${normalizedShape.join(', ')}]`
  check(count > 0, () => `${operator}: expected a normalized_shape with 1 or more dimensions`)
  const axis = input.dim - count
  check(
    axis >= 0 && normalizedShape.every((size, d) => input.shape[axis + d] === size),
    () => `${operator}: expected an input that ends in ${text}, found shape [${input.shape.join(', ')}]`,
  )
  for (const t of [weight, bias]) {
    check(
      t === null || (t.dim === count && t.shape.every((size, d) => size === normalizedShape[d])),
      () => `${operator}: expected weight and bias of shape ${text}, found [${t === null ? '' : t.shape.join(', ')}]`,
    )
  }
  checkReal(operator, input.type)
  checkParameterTypes(operator, input, [weight, bias])
  const inner = computeType(input.type)
  const size = numelOf(normalizedShape)
  const lead = input.shape.slice(0, axis)
  const rows = numelOf(lead)
  const result = empty(input.shape, inner)
  const shape = [...lead, ...normalizedShape.map(() => 1)]
  const mean = statistics ? empty(shape, inner) : null
  const rstd = statistics ? empty(shape, inner) : null
  if (rows > 0) {
    const x = dense(input, inner)
    kernels.layer_norm({
      dtype: inner,
      rows,
      size,
      input: x.address,
      output: result.address,
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      mean: mean === null ? 0 : mean.address,
      rstd: rstd === null ? 0 : rstd.address,
      eps,
    })
  }
  return [castTo(result, input.type), mean, rstd]
}

/** torch.layer_norm over the last dimensions, which have normalized_shape. */
export function layer_norm(
  input: Tensor,
  normalizedShape: number[],
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  _cudnnEnable: boolean,
): Tensor {
  return layerNorm('layer_norm', input, normalizedShape, weight, bias, eps, false)[0]
}

/** layer_norm with the mean and 1 / deviation of each row. */
export function native_layer_norm(
  input: Tensor,
  normalizedShape: number[],
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  out0?: Tensor,
  out1?: Tensor,
  out2?: Tensor,
): [Tensor, Tensor, Tensor] {
  const [result, mean, rstd] = layerNorm('native_layer_norm', input, normalizedShape, weight, bias, eps, true)
  const type = parameterType(input, weight)
  return [deliver(result, out0), deliver(castTo(mean!, type), out1), deliver(castTo(rstd!, type), out2)]
}

function groupNorm(
  operator: string,
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  batch: number,
  channels: number,
  inside: number,
  groups: number,
  eps: number,
  statistics: boolean,
): [Tensor, Tensor | null, Tensor | null] {
  check(groups > 0 && channels % groups === 0, () => `${operator}: ${channels} channels cannot be split into ${groups} groups`)
  checkChannels(operator, 'weight', weight, channels)
  checkChannels(operator, 'bias', bias, channels)
  check(
    input.numel === batch * channels * inside,
    () => `${operator}: expected ${batch} x ${channels} x ${inside} elements, found shape [${input.shape.join(', ')}]`,
  )
  checkReal(operator, input.type)
  checkParameterTypes(operator, input, [weight, bias])
  const inner = computeType(input.type)
  const result = empty(input.shape, inner)
  const mean = statistics ? empty([batch, groups], inner) : null
  const rstd = statistics ? empty([batch, groups], inner) : null
  if (input.numel > 0) {
    const x = dense(input, inner)
    kernels.group_norm({
      dtype: inner,
      batch,
      groups,
      channels: channels / groups,
      inner: inside,
      input: x.address,
      output: result.address,
      weight: denseAddress(weight, inner),
      bias: denseAddress(bias, inner),
      mean: mean === null ? 0 : mean.address,
      rstd: rstd === null ? 0 : rstd.address,
      eps,
    })
  }
  return [castTo(result, input.type), mean, rstd]
}

/** torch.group_norm: input [n, c, ...]. */
export function group_norm(
  input: Tensor,
  numGroups: number,
  weight: Tensor | null,
  bias: Tensor | null,
  eps: number,
  _cudnnEnabled: boolean,
): Tensor {
  check(input.dim >= 2, () => `group_norm: expected an input with 2 or more dimensions, found shape [${input.shape.join(', ')}]`)
  return groupNorm('group_norm', input, weight, bias, input.shape[0]!, input.shape[1]!, innerOf(input), numGroups, eps, false)[0]
}

/** group_norm of an input seen as [n, c, hxw], with the mean and 1 / deviation of each group. */
export function native_group_norm(
  input: Tensor,
  weight: Tensor | null,
  bias: Tensor | null,
  n: number,
  c: number,
  hxw: number,
  group: number,
  eps: number,
  out0?: Tensor,
  out1?: Tensor,
  out2?: Tensor,
): [Tensor, Tensor, Tensor] {
  const [result, mean, rstd] = groupNorm('native_group_norm', input, weight, bias, n, c, hxw, group, eps, true)
  const type = parameterType(input, weight)
  return [deliver(result, out0), deliver(castTo(mean!, type), out1), deliver(castTo(rstd!, type), out2)]
}
