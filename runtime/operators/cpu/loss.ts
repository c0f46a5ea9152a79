import { check, PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { readTensor } from '../../tensor/data.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { scalarToNumber } from '../../tensor/scalar.js'
import { sameShape } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf } from '../support/copy.js'
import { writeOut, writeOutsExact } from '../support/write-out.js'
import { listOf, zerosOf } from '../support/make.js'
import { Reduction, reduceLoss } from '../support/loss.js'
import type { CPU } from '../support/generated/interfaces.js'

interface Picked {
  /** One loss per position, null where only the sums were asked for. */
  readonly each: Tensor | null
  readonly sum: Tensor
  /** NaN where no target counted. */
  readonly mean: Tensor
  readonly weight: Tensor
}

/** -self[n, target, position] * weight[target] over N x C x positions. */
function pick(
  operator: string,
  self: Tensor,
  target: Tensor,
  weight: Tensor | null,
  ignoreIndex: number,
  none: boolean,
  dims: Dims,
): Picked {
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating point dtype, found ${self.dtype}`)
  if (target.type !== DType.int64 && target.type !== DType.uint8) {
    throw new PtliteError('INVALID_DTYPE', `${operator}: expected an int64 target, found ${target.dtype}`)
  }
  check(weight === null || (weight.dim === 1 && weight.numel === dims.classes), () =>
    `${operator}: expected a weight for each of ${dims.classes} classes, found [${weight!.shape.join(', ')}]`,
  ) // prettier-ignore
  const data = contiguousOf(self)
  const wanted = contiguousOf(castTo(target, DType.int64))
  const shares = weight === null ? null : contiguousOf(castTo(weight, self.type))
  const each = none ? empty([...target.shape], self.type) : null
  const sum = zerosOf([], self.type)
  const mean = zerosOf([], self.type)
  const total = zerosOf([], self.type)
  kernels.nll_loss({
    dtype: self.type,
    ...dims,
    ignore_index: ignoreIndex,
    in: data.address,
    target: wanted.address,
    weight: shares === null ? 0 : shares.address,
    out_each: each === null ? 0 : each.address,
    out_sum: sum.address,
    out_mean: mean.address,
    out_weight: total.address,
  })
  return { each, sum, mean, weight: total }
}

interface Dims {
  readonly batch: number
  readonly classes: number
  readonly positions: number
}

function forward(picked: Picked, reduction: number): [Tensor, Tensor] {
  if (picked.each !== null) return [picked.each, zerosOf([], picked.sum.type)]
  return [reduction === Reduction.mean ? picked.mean : picked.sum, picked.weight]
}

function checkList(self: Tensor, target: Tensor): Dims {
  check(self.dim === 1 || self.dim === 2, () => `nll_loss: expected an input of 1 or 2 dimensions, found ${self.dim}`)
  check(target.dim <= 1, () => `nll_loss: expected a target of at most one dimension, found ${target.dim}`)
  const lone = self.dim === 1
  const batch = lone ? 1 : self.shape[0]!
  check((lone && target.dim === 0) || target.shape[0] === batch, () =>
    `nll_loss: expected ${batch} targets, found [${target.shape.join(', ')}]`,
  ) // prettier-ignore
  return { batch, classes: self.shape[self.dim - 1]!, positions: 1 }
}

/** torch.nll_loss_forward: the loss and the total weight of the targets. */
export const nll_loss_forward: CPU['nll_loss_forward'] = (self, target, weight, reduction, ignoreIndex, ...outs) => {
  const dims = checkList(self, target)
  const picked = pick('nll_loss', self, target, weight, ignoreIndex, reduction === Reduction.none && self.dim === 2, dims)
  return writeOutsExact(forward(picked, reduction), outs, 'nll_loss')
}

/** torch.nll_loss on (N x) C log-probabilities. */
export const nll_loss: CPU['nll_loss'] = (self, target, weight, reduction, ignoreIndex, out) =>
  writeOut(nll_loss_forward(self, target, weight, reduction, ignoreIndex)[0], out)

export const nll_loss2d_forward: CPU['nll_loss2d_forward'] = (self, target, weight, reduction, ignoreIndex, ...outs) => {
  check(self.dim === 4 && target.dim === 3, () => `nll_loss2d: expected 4 dimensions and targets of 3, found ${self.dim} and ${target.dim}`)
  const [batch, classes, height, width] = self.shape as [number, number, number, number]
  check(
    sameShape(target.shape, [batch, height, width]),
    () => `nll_loss2d: expected targets [${batch}, ${height}, ${width}], found [${target.shape.join(', ')}]`,
  )
  const dims = { batch, classes, positions: height * width }
  const picked = pick('nll_loss2d', self, target, weight, ignoreIndex, reduction === Reduction.none, dims)
  return writeOutsExact(forward(picked, reduction), outs, 'nll_loss2d')
}

export const nll_loss2d: CPU['nll_loss2d'] = (self, target, weight, reduction, ignoreIndex, out) =>
  writeOut(nll_loss2d_forward(self, target, weight, reduction, ignoreIndex)[0], out)

/** torch.nn.functional.nll_loss on N x C x ... log-probabilities. */
export function nll_loss_nd(self: Tensor, target: Tensor, weight: Tensor | null, reduction: number, ignoreIndex: number): Tensor {
  check(self.dim >= 1, () => 'nll_loss: expected at least one dimension')
  if (self.dim <= 2) return nll_loss(self, target, weight, reduction, ignoreIndex)
  check(self.shape[0] === target.shape[0], () => `nll_loss: expected one batch size, found ${self.shape[0]} and ${target.shape[0]}`)
  const expected = [self.shape[0]!, ...self.shape.slice(2)]
  check(sameShape(target.shape, expected), () => `nll_loss: expected targets [${expected.join(', ')}], found [${target.shape.join(', ')}]`)
  const dims = { batch: self.shape[0]!, classes: self.shape[1]!, positions: expected.slice(1).reduce((a, b) => a * b, 1) }
  return forward(pick('nll_loss', self, target, weight, ignoreIndex, reduction === Reduction.none, dims), reduction)[0]
}

function margins(
  operator: string,
  self: Tensor,
  target: Tensor,
  multilabel: boolean,
  p: number,
  margin: number,
  weight: Tensor | null,
): Tensor {
  if (!isFloating(self.type)) throw new PtliteError('INVALID_DTYPE', `${operator}: expected a floating point dtype, found ${self.dtype}`)
  check(self.dim <= 2, () => `${operator}: expected at most 2 dimensions, found ${self.dim}`)
  const batch = self.dim === 2 ? self.shape[0]! : 1
  const classes = self.shape[self.dim - 1] ?? 1
  const fits = multilabel ? target.numel === self.numel : target.dim <= 1 && target.numel === batch
  check(fits, () => `${operator}: targets [${target.shape.join(', ')}] do not fit [${self.shape.join(', ')}]`)
  check(
    weight === null || (weight.dim <= 1 && weight.numel === classes),
    () => `${operator}: expected a weight for each of ${classes} classes, found shape [${weight!.shape.join(', ')}]`,
  )
  const out = empty(self.dim === 2 ? [batch] : multilabel || target.dim === 0 ? [] : [batch], self.type)
  const data = contiguousOf(self)
  const wanted = contiguousOf(castTo(target, DType.int64))
  const shares = weight === null ? null : contiguousOf(castTo(weight, self.type))
  kernels.margin_loss({
    dtype: self.type,
    multilabel: multilabel ? 1 : 0,
    batch,
    classes,
    p,
    margin,
    in: data.address,
    target: wanted.address,
    weight: shares === null ? 0 : shares.address,
    out: out.address,
  })
  return out
}

/** torch.nn.functional.multi_margin_loss with p 1 or 2. */
export const multi_margin_loss: CPU['multi_margin_loss'] = (self, target, p, margin, weight, reduction, out) => {
  const order = scalarToNumber(p)
  check(order === 1 || order === 2, () => `multi_margin_loss: expected p 1 or 2, found ${order}`)
  return reduceLoss(margins('multi_margin_loss', self, target, false, order, scalarToNumber(margin), weight), reduction, out)
}

/** torch.nn.functional.multilabel_margin_loss; the labels of a row end at the first negative one. */
export function multilabel_margin_loss(self: Tensor, target: Tensor, reduction: number, out?: Tensor): Tensor {
  return reduceLoss(margins('multilabel_margin_loss', self, target, true, 1, 1, null), reduction, out)
}

/** Negative log likelihoods and forward variables of T x N x C log-probabilities (_ctc_loss). */
export const _ctc_loss: CPU['_ctc_loss'] = (logProbs, targets, inputLengths, targetLengths, blank) => {
  if (logProbs.type !== DType.float32 && logProbs.type !== DType.float64) {
    throw new PtliteError('INVALID_DTYPE', `ctc_loss: expected float32 or float64, found ${logProbs.dtype}`)
  }
  check(logProbs.dim === 3, () => `ctc_loss: expected 3 dimensions, found ${logProbs.dim}`)
  const [time, batch, classes] = logProbs.shape as [number, number, number]
  check(blank >= 0 && blank < classes, () => `ctc_loss: blank ${blank} is not among ${classes} classes`)
  check(inputLengths.length === batch && targetLengths.length === batch, () => `ctc_loss: expected ${batch} input and target lengths`)
  check(inputLengths.every((n) => Number.isSafeInteger(n) && n >= 0 && n <= time), () => `ctc_loss: expected input lengths of at most ${time}, found [${inputLengths.join(', ')}]`) // prettier-ignore
  check(targetLengths.every((n) => Number.isSafeInteger(n) && n >= 0), () => `ctc_loss: expected target lengths of at least 0, found [${targetLengths.join(', ')}]`) // prettier-ignore
  if (targets.type !== DType.int32 && targets.type !== DType.int64)
    throw new PtliteError('INVALID_DTYPE', `ctc_loss: expected int32 or int64 targets, found ${targets.dtype}`)
  const longest = Math.max(0, ...targetLengths)
  const padded = targets.dim === 2
  const total = targetLengths.reduce((a, b) => a + b, 0)
  const enough = padded ? targets.shape[0] === batch && targets.shape[1]! >= longest : targets.dim === 1 && targets.numel === total
  check(enough, () => `ctc_loss: targets [${targets.shape.join(', ')}] do not hold lengths [${targetLengths.join(', ')}]`)
  const offsets: number[] = []
  let next = 0
  for (const [n, length] of targetLengths.entries()) {
    offsets.push(padded ? n * targets.strides[0]! : next)
    next += length * (targets.strides[0] ?? 1)
  }
  const losses = empty([batch], logProbs.type)
  const alpha = empty([batch, time, 2 * longest + 1], logProbs.type)
  const lists = [offsets, inputLengths, targetLengths].map((list) => listOf(list))
  kernels.ctc_loss({
    dtype: logProbs.type,
    target_dtype: targets.type,
    time,
    batch,
    classes,
    longest,
    blank,
    target_step: targets.strides[targets.dim - 1]!,
    time_stride: logProbs.strides[0]!,
    batch_stride: logProbs.strides[1]!,
    class_stride: logProbs.strides[2]!,
    in: logProbs.address,
    targets: targets.address,
    target_offsets: lists[0]!.address,
    input_lengths: lists[1]!.address,
    target_lengths: lists[2]!.address,
    out: losses.address,
    alpha: alpha.address,
  })
  return [losses, alpha]
}

export const _ctc_loss_Tensor: CPU['_ctc_loss_Tensor'] = (logProbs, targets, inputLengths, targetLengths, blank, zeroInfinity) =>
  _ctc_loss(logProbs, targets, numbersOf(inputLengths), numbersOf(targetLengths), blank, zeroInfinity)

export function numbersOf(list: Tensor): number[] {
  return Array.from(readTensor(list), Number)
}
