import { check } from '../../error.js'
import { DType } from '../../tensor/dtype.js'
import { joined } from '../../tensor/promote.js'
import { empty, type Tensor } from '../../tensor/tensor.js'
import * as v from '../../tensor/view.js'
import { copyInto } from '../support/copy.js'
import { fillScalar } from '../support/fill.js'
import * as at from '../generated/dispatch.js'
import { flip } from './flip.js'

/** The Vandermonde matrix: in row i the powers of x[i], from the zeroth up where `increasing`, else down to it. */
export function vander(x: Tensor, columns: number | null, increasing: boolean): Tensor {
  check(x.shape.length === 1, () => `vander expects a vector, found shape [${x.shape.join(', ')}]`)
  const n = columns ?? x.shape[0]!
  check(n >= 0, () => `expected a number of columns of at least 0, found ${n}`)
  const out = empty([x.shape[0]!, n], joined(x.type, DType.int64))
  if (n > 0) fillScalar(v.select(out, 1, 0), 1)
  if (n > 1) {
    const powers = v.slice(out, 1, 1)
    copyInto(powers, v.unsqueeze(x, 1))
    copyInto(powers, at.cumprod(powers, 1, null))
  }
  return increasing ? out : flip(out, [1])
}

/** torch.linalg.vander: of the last dim of `x`, powers rising from the zeroth. */
export function linalg_vander(given: Tensor, columns: number | null): Tensor {
  const x = given.dim === 0 ? v.unsqueeze(given, 0) : given
  check(x.shape[x.dim - 1]! > 0, () => `linalg_vander expects at least one element, found shape [${x.shape.join(', ')}]`)
  const n = columns ?? x.shape[x.dim - 1]!
  check(n > 1, () => `expected a number of columns above 1, found ${n}`)
  const type = joined(x.type, DType.int64)
  const out = empty([...x.shape, n], type)
  fillScalar(v.select(out, x.dim, 0), 1)
  const powers = v.slice(out, x.dim, 1)
  copyInto(powers, v.unsqueeze(x, x.dim))
  copyInto(powers, at.cumprod(powers, x.dim, null))
  return out
}
