import { PtliteError } from '../../error.js'
import * as kernels from '../../native/generated/kernels.js'
import { DType } from '../../tensor/dtype.js'
import { resultTensor } from '../../tensor/iterator.js'
import { type Operand, promotePair, toFloating } from '../../tensor/promote.js'
import { broadcastShapes } from '../../tensor/shape.js'
import { empty, Tensor } from '../../tensor/tensor.js'
import { castTo, contiguousOf, copyInto } from '../support/copy.js'
import { checkPlain, notFor } from './support/elementwise.js'
import { expandTo, scalarTensor } from '../support/make.js'

/**
 * torch.special's orthogonal polynomials of degree n at x, with broadcasting; either may be a number. Degrees are cut to integers, and
 * negative ones give 0. Throws INVALID_ARGUMENT for a degree above 2^24 where the recurrence would have to run so far, and for many above 2^14.
 */
function polynomial(kind: keyof typeof kernels.Polynomial, x: Operand, n: Operand, out?: Tensor): Tensor {
  const name = `special_${kind}`
  const tensors = [x, n].filter((t) => t instanceof Tensor)
  for (const t of tensors) checkPlain(name, t)
  const type = toFloating(promotePair(x, n))
  if (type !== DType.float32 && type !== DType.float64) notFor(name, type)
  const shape = tensors.map((t) => t.shape).reduce((a, b) => broadcastShapes(a, b))
  const target = resultTensor(out, shape, type, [x, n])
  const dense = out === undefined && target.isContiguous ? target : empty(shape, type)
  const [at, degree] = [contiguousOf(expandTo(asTensor(x, type), shape)), contiguousOf(expandTo(asTensor(n, type), shape))]
  if (dense.numel > 0) {
    const addresses = { x: at.address, n: degree.address, out: dense.address }
    try {
      kernels.polynomial({ kind: kernels.Polynomial[kind], dtype: type, count: dense.numel, ...addresses })
    } catch (cause) {
      if (!(cause instanceof PtliteError && cause.code === 'INVALID_ARGUMENT')) throw cause
      throw new PtliteError('INVALID_ARGUMENT', `${name}: expected degrees up to 2^24, few of them above 2^14; these take too many steps`)
    }
  }
  if (dense !== target) copyInto(target, dense)
  return target
}

function asTensor(x: Operand, type: DType): Tensor {
  return x instanceof Tensor ? castTo(x, type) : scalarTensor(x, type)
}

export function chebyshev_polynomial_t_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('chebyshev_polynomial_t', x, n, out)
}

export function chebyshev_polynomial_u_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('chebyshev_polynomial_u', x, n, out)
}

export function chebyshev_polynomial_v_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('chebyshev_polynomial_v', x, n, out)
}

export function chebyshev_polynomial_w_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('chebyshev_polynomial_w', x, n, out)
}

export function hermite_polynomial_h_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('hermite_polynomial_h', x, n, out)
}

export function hermite_polynomial_he_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('hermite_polynomial_he', x, n, out)
}

export function laguerre_polynomial_l_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('laguerre_polynomial_l', x, n, out)
}

export function legendre_polynomial_p_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('legendre_polynomial_p', x, n, out)
}

export function shifted_chebyshev_polynomial_t_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('shifted_chebyshev_polynomial_t', x, n, out)
}

export function shifted_chebyshev_polynomial_u_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('shifted_chebyshev_polynomial_u', x, n, out)
}

export function shifted_chebyshev_polynomial_v_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('shifted_chebyshev_polynomial_v', x, n, out)
}

export function shifted_chebyshev_polynomial_w_out(x: Operand, n: Operand, out?: Tensor): Tensor {
  return polynomial('shifted_chebyshev_polynomial_w', x, n, out)
}
