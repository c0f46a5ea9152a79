import { check } from '../../error.js'
import { itemOf } from '../../tensor/data.js'
import { DType, dtypeName, isComplex, isFloating } from '../../tensor/dtype.js'
import { Float } from '../../tensor/scalar.js'
import { broadcastShapes, contiguousStrides, numelOf, sameShape } from '../../tensor/shape.js'
import { type Tensor, viewOf } from '../../tensor/tensor.js'
import { diagonal, expand, transpose, unsqueeze } from '../../tensor/view.js'
import { castTo, contiguousOf, laidOutAsSuggested } from '../support/copy.js'
import { zerosOf } from '../support/make.js'
import { complex, conj, imag, real } from './complex-views.js'
import * as at from '../generated/dispatch.js'
import { result_type_Tensor } from './introspection.js'

/** Similarity of vectors, covariance, sums to a shape, and max pooling undone. */

/** Cosine of the angle between the vectors along `dim`; norms below `eps` count as `eps`. */
export function cosine_similarity(x1: Tensor, x2: Tensor, dim: number, eps: number): Tensor {
  const type = result_type_Tensor(x1, x2)
  check(isFloating(type), () => `cosine_similarity expects a floating point dtype, found ${dtypeName(type)}`)
  const shape = broadcastShapes(x1.shape, x2.shape)
  const [a, b] = [unit(expand(asFloating(x1, type), shape), dim, eps), unit(expand(asFloating(x2, type), shape), dim, eps)]
  return at.sum_dim_IntList(at.mul_Tensor(a, b), [dim], false, null)
}

function asFloating(x: Tensor, type: DType): Tensor {
  return isFloating(x.type) ? x : castTo(x, type)
}

function unit(x: Tensor, dim: number, eps: number): Tensor {
  return at.div_Tensor(x, at.clamp_min(at.linalg_vector_norm(x, 2, [dim], true, null), new Float(eps)))
}

function checkWeights(weights: Tensor, what: string, count: number, floating: boolean): void {
  check(isFloating(weights.type) === floating, () => `cov: expected ${what} of ${floating ? 'floats' : 'integers'}, found ${weights.dtype}`)
  check(weights.dim < 2 && weights.numel === count, () => `cov: expected ${count} ${what}, found shape [${weights.shape.join(', ')}]`)
  const least = weights.numel === 0 ? 0 : Number(itemOf(at.min(weights)))
  check(least >= 0, () => `cov: expected no negative ${what}, found ${least}`)
}

/** torch.cov: covariance of the rows, whose elements are observations, optionally counted or weighted. */
export function cov(self: Tensor, correction: number, fweights: Tensor | null, aweights: Tensor | null): Tensor {
  check(self.dim <= 2, () => `cov: expected at most two dimensions, found ${self.dim}`)
  check(self.type !== DType.bool, () => 'cov: expected numbers, found bool')
  const rows = self.dim < 2 ? viewOf(contiguousOf(self), [1, self.numel], [Math.max(self.numel, 1), 1]) : self
  const count = rows.shape[1]!
  if (fweights !== null) checkWeights(fweights, 'frequencies', count, false)
  if (aweights !== null) checkWeights(aweights, 'weights', count, true)
  const weights = fweights === null ? aweights : aweights === null ? fweights : at.mul_Tensor(fweights, aweights)
  const total = weights === null ? count : Number(itemOf(at.sum(weights, null)))
  check(weights === null || count === 0 || total !== 0, () => 'cov: the weights sum to zero')
  let divisor = total - correction
  if (weights !== null && aweights !== null && correction !== 0) {
    divisor = total - (correction * Number(itemOf(at.sum(at.mul_Tensor(weights, aweights), null)))) / total
  }
  const weighted = (x: Tensor): Tensor => (weights === null ? x : at.mul_Tensor(x, weights))
  const mean = at.div_Scalar(at.sum_dim_IntList(weighted(rows), [1], false, null), new Float(total))
  const centered = at.sub_Tensor(rows, unsqueeze(mean, 1), 1)
  const product = at.mm(centered, castTo(conj(transpose(weighted(centered), 0, 1)), centered.type))
  const result = at.div_Scalar(product, new Float(Math.max(divisor, 0)))
  return result.numel === 1 ? viewOf(result, [], []) : result
}

/** torch.corrcoef: correlation of the rows, within -1 and 1. */
export function corrcoef(self: Tensor): Tensor {
  const c = cov(self, 1, null, null)
  if (c.dim === 0) return at.div_Tensor(c, c)
  // variances are real
  const deviation = at.sqrt(real(diagonal(c)))
  const scaled = at.div_Tensor(at.div_Tensor(c, unsqueeze(deviation, 1)), unsqueeze(deviation, 0))
  return isComplex(c.type) ? complex(at.clamp(real(scaled), -1, 1), at.clamp(imag(scaled), -1, 1)) : at.clamp(scaled, -1, 1)
}

/** The sum over the dimensions that broadcasting from `size` has added or grown. */
export function sum_to_size(self: Tensor, size: number[]): Tensor {
  const lead = self.dim - size.length
  check(
    lead >= 0 && size.every((n, d) => n === 1 || n === self.shape[lead + d]),
    () => `expected a size that broadcasts to [${self.shape.join(', ')}], found [${size.join(', ')}]`,
  )
  if (sameShape(size, self.shape)) return self
  const grown = self.shape.map((_, d) => d).filter((d) => d < lead || (size[d - lead] === 1 && self.shape[d] !== 1))
  const sum = contiguousOf(at.sum_dim_IntList(self, grown, true, null))
  return viewOf(sum, size, contiguousStrides(size))
}

/** sum_to_size, unless there is no size. */
export function _grad_sum_to_size(self: Tensor, size: number[] | null): Tensor {
  return size === null ? self : sum_to_size(self, size)
}

function unpool(self: Tensor, indices: Tensor, size: number[], planeDims: number): Tensor {
  const name = `max_unpool${planeDims}d`
  check(indices.type === DType.int64, () => `${name}: expected int64 indices, found ${indices.dtype}`)
  check(size.length === planeDims && size.every((n) => n >= 0), () => `${name}: expected ${planeDims} output sizes of at least 0, found [${size.join(', ')}]`) // prettier-ignore
  check(
    self.dim === planeDims + 1 || self.dim === planeDims + 2,
    () => `${name}: expected ${planeDims + 1} or ${planeDims + 2} dimensions, found ${self.dim}`,
  )
  check(
    sameShape(self.shape, indices.shape),
    () => `${name}: expected indices of shape [${self.shape.join(', ')}], found [${indices.shape.join(', ')}]`,
  )
  const outer = self.shape.slice(0, -planeDims)
  const planes = numelOf(outer)
  const [from, to] = [numelOf(self.shape.slice(-planeDims)), numelOf(size)]
  const shape = [...outer, ...size]
  const flat = (t: Tensor): Tensor => viewOf(contiguousOf(t), [planes, from], [from, 1])
  const out = zerosOf([planes, to], self.type)
  if (self.numel > 0) at.scatter__src(out, 1, flat(indices), flat(self))
  return laidOutAsSuggested(viewOf(out, shape, contiguousStrides(shape)), self)
}

/** torch.max_unpool2d: values put back where the indices of max_pool2d say, zeros elsewhere. */
export function max_unpool2d(self: Tensor, indices: Tensor, outputSize: number[]): Tensor {
  return unpool(self, indices, outputSize, 2)
}

export function max_unpool3d(self: Tensor, indices: Tensor, outputSize: number[], _stride: number[], _padding: number[]): Tensor {
  return unpool(self, indices, outputSize, 3)
}
