import * as kernels from '../../native/generated/kernels.js'
import { DType, isFloating } from '../../tensor/dtype.js'
import { resultTensor } from '../../tensor/iterator.js'
import { promotePair } from '../../tensor/promote.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { checkPlain, notFor } from './support/elementwise.js'
import { expandTo } from '../support/make.js'

type IncompleteGamma = (self: Tensor, other: Tensor, out?: Tensor) => Tensor

function incompleteGamma(name: string, upper: boolean): IncompleteGamma {
  return (self, other, out) => {
    checkPlain(name, self)
    checkPlain(name, other)
    const type = promotePair(self, other)
    if (!isFloating(type)) notFor(name, type)
    const inner = type === DType.float64 ? type : DType.float32
    const shape = broadcastShapes(self.shape, other.shape)
    const target = resultTensor(out, shape, type, [self, other])
    const dense = out === undefined && inner === type && target.isContiguous ? target : empty(shape, inner)
    const a = contiguousOf(expandTo(castTo(self, inner), shape))
    const x = contiguousOf(expandTo(castTo(other, inner), shape))
    if (dense.numel > 0)
      kernels.incomplete_gamma({ dtype: inner, upper: upper ? 1 : 0, n: dense.numel, a: a.address, x: x.address, out: dense.address })
    if (dense !== target) copyInto(target, dense)
    return target
  }
}

/** torch.special.gammainc: the regularized lower incomplete gamma function P(self, other). NaN for negative arguments. */
export const igamma_out = incompleteGamma('igamma', false)

/** torch.special.gammaincc: the regularized upper incomplete gamma function Q(self, other) = 1 - P(self, other). */
export const igammac_out = incompleteGamma('igammac', true)
