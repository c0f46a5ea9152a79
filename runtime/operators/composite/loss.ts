import { check, PtliteError } from '../../error.js'
import { itemOf } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { sameShape } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { castTo, laidOutLike } from '../support/copy.js'
import { Reduction, reduceLoss } from '../support/loss.js'
import { listOf, reshaped } from '../support/make.js'
import type { Composite } from '../support/generated/interfaces.js'
import * as at from '../generated/dispatch.js'

const f = (value: number): Float => new Float(value)

/** A loss of each element is written where a copy of the input of its shape would be. */
function laidOutIfLike(each: Tensor, input: Tensor): Tensor {
  return sameShape(each.shape, input.shape) ? laidOutLike(each, input) : each
}

function difference(self: Tensor, target: Tensor): Tensor {
  return at.sub_Tensor(self, target, 1)
}

function floating(operator: string, each: Tensor): Tensor {
  if (isFloating(each.type)) return each
  throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating point dtype, found ${each.dtype}`)
}

/** torch.nn.functional.l1_loss: |self - target|. `reduction` is 0 (none), 1 (mean) or 2 (sum) in all losses. */
export function l1_loss(self: Tensor, target: Tensor, reduction: number): Tensor {
  return reduceLoss(at.abs(difference(self, target)), reduction)
}

/** Throws where a loss takes none of the three reductions; others take any other number for none. */
function checkReduction(operator: string, reduction: number): void {
  check(reduction >= 0 && reduction <= 2, () => `${operator}: expected reduction 0 (none), 1 (mean) or 2 (sum), found ${reduction}`)
}

/** (self - target)². */
export function mse_loss(self: Tensor, target: Tensor, reduction: number, out?: Tensor): Tensor {
  checkReduction('mse_loss', reduction)
  const d = floating('mse_loss', difference(self, target))
  return reduceLoss(at.mul_Tensor(d, d), reduction, out)
}

/** Quadratic (d²/2) below `width`, linear beyond; both parts are scaled by `scale`. */
function smoothed(d: Tensor, width: number, scale: number): Tensor {
  const size = at.abs(d)
  const near = at.mul_Scalar(at.mul_Tensor(size, size), f(0.5 * scale))
  const far = at.mul_Scalar(at.sub_Scalar(size, f(0.5 * width), 1), f(width * scale))
  return at.where_self(at.lt_Scalar(size, f(width)), near, far)
}

/** torch.nn.functional.smooth_l1_loss: d²/(2 beta) below beta, |d| - beta/2 beyond. */
export function smooth_l1_loss(self: Tensor, target: Tensor, reduction: number, beta: number, out?: Tensor): Tensor {
  checkReduction('smooth_l1_loss', reduction)
  check(beta >= 0, () => `smooth_l1_loss: expected beta of at least 0, found ${beta}`)
  const d = difference(self, target)
  if (beta === 0) return reduceLoss(at.abs(d), reduction, out)
  return reduceLoss(smoothed(floating('smooth_l1_loss', d), beta, 1 / beta), reduction, out)
}

/** torch.nn.functional.huber_loss: d²/2 up to delta, delta (|d| - delta/2) beyond. */
export function huber_loss(self: Tensor, target: Tensor, reduction: number, delta: number, out?: Tensor): Tensor {
  check(delta > 0, () => `huber_loss: expected delta above 0, found ${delta}`)
  return reduceLoss(laidOutIfLike(smoothed(floating('huber_loss', difference(self, target)), delta, 1), self), reduction, out)
}

/** torch.nn.functional.binary_cross_entropy of probabilities; logarithms are limited to -100. */
export function binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | null, reduction: number, out?: Tensor): Tensor {
  if (target.type !== self.type)
    throw new PtliteError('INVALID_DTYPE', `binary_cross_entropy: expected a target of dtype ${self.dtype}, found ${target.dtype}`)
  if (self.numel > 0) {
    const [low, high] = at.aminmax(floating('binary_cross_entropy', self), null, false)
    check(Number(itemOf(low)) >= 0 && Number(itemOf(high)) <= 1, () => 'binary_cross_entropy: expected all elements between 0 and 1')
  }
  const yes = at.clamp_min(at.log(self), f(-100))
  const no = at.clamp_min(at.log1p(at.neg(self)), f(-100))
  const each = at.sub_Tensor(at.mul_Tensor(at.sub_Scalar(target, 1, 1), no), at.mul_Tensor(target, yes), 1)
  const shaped = laidOutLike(sameShape(each.shape, self.shape) ? each : reshaped(each, self.shape), self)
  return reduceLoss(weighted(shaped, weight), reduction, out)
}

function weighted(each: Tensor, weight: Tensor | null): Tensor {
  return weight === null ? each : at.mul_Tensor(each, weight)
}

/** torch.nn.functional.binary_cross_entropy_with_logits. */
export const binary_cross_entropy_with_logits: Composite['binary_cross_entropy_with_logits'] = (
  self,
  target,
  weight,
  posWeight,
  reduction,
) => {
  const no = at.mul_Tensor(at.rsub_Scalar(target, 1, 1), self)
  const logYes = at.log_sigmoid(self)
  const scaled =
    posWeight === null ? logYes : at.mul_Tensor(logYes, at.add_Scalar(at.mul_Tensor(at.sub_Scalar(posWeight, 1, 1), target), 1, 1))
  return reduceLoss(weighted(at.sub_Tensor(no, scaled, 1), weight), reduction)
}

function logSoftmax(self: Tensor, dim: number): Tensor {
  return at._log_softmax(self, dim, false)
}

/** torch.nn.functional.cross_entropy: targets are class numbers, or probabilities where they have the input's shape. */
export const cross_entropy_loss: Composite['cross_entropy_loss'] = (self, target, weight, reduction, ignoreIndex, labelSmoothing) => {
  const classDim = self.dim === 1 ? 0 : 1
  const logs = logSoftmax(self, classDim)
  if (sameShape(self.shape, target.shape)) {
    check(isFloating(target.type), () => `cross_entropy_loss: expected floating point class probabilities, found ${target.dtype}`)
    check(ignoreIndex < 0, () => 'cross_entropy_loss: ignore_index has no meaning for class probabilities')
    return ofProbabilities(logs, target, weight, reduction, classDim, labelSmoothing)
  }
  check(
    labelSmoothing >= 0 && labelSmoothing <= 1,
    () => `cross_entropy_loss: expected label_smoothing from 0 to 1, found ${labelSmoothing}`,
  )
  const exact = at.nll_loss_nd(logs, target, weight, reduction, ignoreIndex)
  return labelSmoothing === 0 ? exact : smoothedTargets(exact, logs, target, weight, reduction, ignoreIndex, classDim, labelSmoothing)
}

/** One weight per class, ready to be broadcast over the other dims. */
function alongClasses(weight: Tensor, rank: number, classDim: number): Tensor {
  return reshaped(weight, new Array<number>(rank).fill(1).map((one, d) => (d === classDim ? weight.numel : one))) // prettier-ignore
}

function ofProbabilities(
  logs: Tensor,
  target: Tensor,
  weight: Tensor | null,
  reduction: number,
  classDim: number,
  smoothing: number,
): Tensor {
  const classes = logs.shape[classDim]!
  const soft = smoothing > 0 ? at.add_Scalar(at.mul_Scalar(target, f(1 - smoothing)), f(smoothing / classes), 1) : target
  const terms = at.mul_Tensor(logs, soft)
  const each = at.neg(
    at.sum_dim_IntList(weight === null ? terms : at.mul_Tensor(terms, alongClasses(weight, logs.dim, classDim)), [classDim], false, null),
  )
  if (reduction !== Reduction.mean) return reduceLoss(each, reduction)
  return at.div_Scalar(at.sum(each, null), f(logs.numel / Math.max(classes, 1)))
}

function smoothedTargets(
  exact: Tensor,
  logs: Tensor,
  target: Tensor,
  weight: Tensor | null,
  reduction: number,
  ignoreIndex: number,
  classDim: number,
  smoothing: number,
): Tensor {
  const terms = weight === null ? logs : at.mul_Tensor(logs, alongClasses(weight, logs.dim, classDim))
  const ignored = at.eq_Scalar(target, ignoreIndex)
  const each = at.masked_fill_Scalar(at.neg(at.sum_dim_IntList(terms, [classDim], false, null)), ignored, 0)
  let spread = reduceLoss(each, reduction)
  if (reduction === Reduction.mean) {
    const counted = weight === null ? at.sum(at.logical_not(ignored), DType.int64) : at.sum(weightsOf(weight, target, ignored), null)
    spread = at.div_Tensor(at.sum(each, null), castTo(counted, each.type))
  }
  const share = smoothing / logs.shape[classDim]!
  return at.add_Tensor(at.mul_Scalar(exact, f(1 - smoothing)), at.mul_Scalar(spread, f(share)), 1)
}

/** The weight of each target's class, 0 where it is ignored. */
function weightsOf(weight: Tensor, target: Tensor, ignored: Tensor): Tensor {
  const classes = at.masked_fill_Scalar(target, ignored, 0)
  const flat = reshaped(classes, [classes.numel])
  return at.masked_fill_Scalar(reshaped(at.index_select(weight, 0, flat), target.shape), ignored, 0)
}

/** torch.nn.functional.kl_div of log-probabilities: target (log target - self). */
export function kl_div(self: Tensor, target: Tensor, reduction: number, logTarget: boolean): Tensor {
  const each = logTarget
    ? at.mul_Tensor(at.exp(target), at.sub_Tensor(target, self, 1))
    : at.sub_Tensor(at.xlogy_Tensor(target, target), at.mul_Tensor(target, self), 1)
  return reduceLoss(each, reduction)
}

/** torch.nn.functional.poisson_nll_loss; `full` adds Stirling's approximation for targets above 1. */
export function poisson_nll_loss(input: Tensor, target: Tensor, logInput: boolean, full: boolean, eps: number, reduction: number): Tensor {
  let each = logInput
    ? at.sub_Tensor(at.exp(input), at.mul_Tensor(target, input), 1)
    : at.sub_Tensor(input, at.mul_Tensor(target, at.log(at.add_Scalar(input, f(eps), 1))), 1)
  if (full) {
    const half = at.mul_Scalar(at.log(at.mul_Scalar(target, f(2 * Math.PI))), f(0.5))
    const stirling = at.add_Tensor(at.sub_Tensor(at.mul_Tensor(target, at.log(target)), target, 1), half, 1)
    each = at.add_Tensor(each, at.masked_fill_Scalar(stirling, at.le_Scalar(target, 1), 0), 1)
  }
  return reduceLoss(each, reduction)
}

/** torch.nn.functional.cosine_embedding_loss: 1 - cos for targets 1, max(0, cos - margin) for targets -1. */
export function cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: number, reduction: number): Tensor {
  check(target.dim <= 1 && input1.dim === target.dim + 1 && input2.dim === target.dim + 1, () =>
    `cosine_embedding_loss: a target of ${target.dim} dimensions does not go with inputs of ${input1.dim} and ${input2.dim}`,
  ) // prettier-ignore
  const dot = (a: Tensor, b: Tensor): Tensor => at.sum_dim_IntList(at.mul_Tensor(a, b), [target.dim], false, null)
  const length = (a: Tensor): Tensor => at.add_Scalar(dot(a, a), f(1e-12), 1)
  const cosine = at.div_Tensor(dot(input1, input2), at.sqrt(at.mul_Tensor(length(input1), length(input2))))
  const alike = at.where_ScalarOther(at.eq_Scalar(target, 1), at.rsub_Scalar(cosine, 1, 1), 0)
  const unlike = at.where_ScalarOther(at.eq_Scalar(target, -1), at.clamp_min(at.sub_Scalar(cosine, f(margin), 1), 0), 0)
  return reduceLoss(castTo(at.add_Tensor(castTo(alike, cosine.type), castTo(unlike, cosine.type), 1), cosine.type), reduction)
}

/** torch.nn.functional.hinge_embedding_loss: self for targets 1, max(0, margin - self) for targets -1. */
export function hinge_embedding_loss(self: Tensor, target: Tensor, margin: number, reduction: number): Tensor {
  // in PyTorch what is apart is a copy of self that is written to
  const apart = laidOutIfLike(at.clamp_min(at.rsub_Scalar(self, f(margin), 1), 0), self)
  const a = at.where_ScalarOther(at.ne_Scalar(target, 1), apart, 0)
  const b = at.where_ScalarOther(at.ne_Scalar(target, -1), self, 0)
  return reduceLoss(at.add_Tensor(a, b, 1), reduction)
}

/** `t` with 0 where the mask holds, broadcast together. */
function masked(t: Tensor, mask: Tensor): Tensor {
  return at.masked_fill_Scalar(t, mask, 0)
}

/** torch.nn.functional.margin_ranking_loss: max(0, -target (input1 - input2) + margin). */
export function margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: number, reduction: number): Tensor {
  const gap = at.mul_Tensor(at.neg(target), difference(input1, input2))
  return reduceLoss(at.clamp_min(at.add_Scalar(gap, f(margin), 1), 0), reduction)
}

/** torch.nn.functional.soft_margin_loss: log(1 + exp(-target self)). */
export function soft_margin_loss(self: Tensor, target: Tensor, reduction: number, out?: Tensor): Tensor {
  return reduceLoss(at.log1p(at.exp(at.mul__Tensor(at.neg(self), target))), reduction, out)
}

/** ||a - b + eps||_p along the last dim. */
function distance(a: Tensor, b: Tensor, p: number, eps: number): Tensor {
  return at.norm_ScalarOpt_dim(at.add_Scalar(difference(a, b), f(eps), 1), f(p), [-1], false)
}

/** torch.nn.functional.triplet_margin_loss: max(0, d(anchor, positive) - d(anchor, negative) + margin). */
export const triplet_margin_loss: Composite['triplet_margin_loss'] = (anchor, positive, negative, margin, p, eps, swap, reduction) => {
  check(anchor.dim === positive.dim && positive.dim === negative.dim, () =>
    `triplet_margin_loss: expected equal numbers of dimensions, found ${anchor.dim}, ${positive.dim} and ${negative.dim}`,
  ) // prettier-ignore
  const near = distance(anchor, positive, p, eps)
  let far = distance(anchor, negative, p, eps)
  if (swap) far = at.minimum(far, distance(positive, negative, p, eps))
  return reduceLoss(at.clamp_min(at.add_Scalar(difference(near, far), f(margin), 1), 0), reduction)
}

function reduceCtc(losses: Tensor, lengths: Tensor, reduction: number, zeroInfinity: boolean, lone: boolean): Tensor {
  const each = zeroInfinity ? masked(losses, at.eq_Scalar(losses, f(Infinity))) : losses
  if (reduction === Reduction.mean) return at.mean(at.div_Tensor(each, at.clamp_min(castTo(lengths, losses.type), 1)), null)
  if (reduction === Reduction.sum) return at.sum(each, null)
  return lone ? viewOf(each, [], []) : each
}

/** torch.nn.functional.ctc_loss on T x (N x) C log-probabilities; the mean divides each loss by its target's length. */
export const ctc_loss_Tensor: Composite['ctc_loss_Tensor'] = (
  logProbs,
  targets,
  inputLengths,
  targetLengths,
  blank,
  reduction,
  zeroInfinity,
) => {
  const lone = logProbs.dim === 2
  const batched = lone ? reshaped(logProbs, [logProbs.shape[0]!, 1, logProbs.shape[1]!]) : logProbs
  const [losses] = at._ctc_loss_Tensor(batched, targets, inputLengths, targetLengths, blank, zeroInfinity)
  return reduceCtc(losses, targetLengths, reduction, zeroInfinity, lone)
}

export const ctc_loss_IntList: Composite['ctc_loss_IntList'] = (logProbs, targets, inputLengths, targetLengths, ...rest) =>
  ctc_loss_Tensor(logProbs, targets, listOf(inputLengths), listOf(targetLengths), ...rest)
