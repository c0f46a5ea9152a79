import { check, PtliteError } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { sameShape, shapeText } from '../../tensor/shape.js'
import type { Tensor } from '../../tensor/tensor.js'
import { view } from '../../tensor/view.js'
import { castTo } from '../support/copy.js'
import { writeOutsExact, type Outs } from '../support/write-out.js'
import { expandTo, zerosOf } from '../support/make.js'
import * as at from '../generated/dispatch.js'

/** 1 at the classes that a row of targets names before its first negative one, else 0. */
function namedClasses(target: Tensor, type: DType): Tensor {
  if (target.numel === 0) return zerosOf(target.shape, type)
  const valid = at.ge_Scalar(at.cummin(target, -1)[0], 0)
  const counts = at.scatter_add(zerosOf(target.shape, type), -1, at.clamp_min(target, 0), castTo(valid, type))
  return at.clamp_max(counts, 1)
}

/** torch.multilabel_margin_loss_forward: the loss, and in the shape of `target` 1 for each class that is a target. */
export function multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: number, ...outs: Outs): [Tensor, Tensor] {
  const operator = 'multilabel_margin_loss'
  if (target.type !== DType.int64) throw new PtliteError('INVALID_DTYPE', `${operator}: expected int64 targets, found ${target.dtype}`)
  check(
    self.dim <= 2 && (self.dim === 0 || self.shape[self.dim - 1] !== 0),
    () => `${operator}: expected a vector, or a matrix of which only the batch may be empty, found shape ${shapeText(self.shape)}`,
  )
  check(
    self.dim < 2 ? target.dim < 2 && target.numel === self.numel : sameShape(target.shape, self.shape),
    () => `${operator}: targets ${shapeText(target.shape)} do not fit ${shapeText(self.shape)}`,
  )
  const loss = at.multilabel_margin_loss(self, target, reduction)
  const rows = target.dim === 0 ? expandTo(target, [1]) : target
  const named = namedClasses(rows, self.type)
  return writeOutsExact([loss, view(named, target.shape.slice())], outs, operator)
}
