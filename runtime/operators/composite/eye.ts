import type { TensorOptions } from '../../tensor/options.js'
import type { Tensor } from '../../tensor/tensor.js'
import { diagonal } from '../../tensor/view.js'
import { fillScalar } from '../support/fill.js'
import { keyOf, refuseQuantized } from '../key.js'
import { make, resized } from './factory.js'

export function eye(n: number, options: TensorOptions): Tensor {
  return eye_m(n, n, options)
}

export function eye_m(n: number, m: number, options: TensorOptions): Tensor {
  return withOnes(make([n, m], options))
}

export function eye_out(n: number, out: Tensor): Tensor {
  return withOnes(resized(out, [n, n]))
}

export function eye_m_out(n: number, m: number, out: Tensor): Tensor {
  return withOnes(resized(out, [n, m]))
}

function withOnes(out: Tensor): Tensor {
  refuseQuantized('aten::eye', keyOf(out))
  fillScalar(out, 0)
  fillScalar(diagonal(out), 1)
  return out
}
