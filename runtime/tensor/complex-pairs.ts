import { absent, check } from '../error.js'
import { noteUse } from '../used.js'
import { isComplex, realOf } from './dtype.js'
import type { Tensor } from './tensor.js'
import * as features from '../features.js'

/** The elements of a complex tensor as pairs of reals, shape [..., 2]. Throws INVALID_ARGUMENT for other tensors. */
export function pairsOf(t: Tensor): Pick<Tensor, 'offset' | 'shape' | 'strides' | 'type'> {
  if (!features.complex) throw absent('complex tensors')
  noteUse('complex')
  check(isComplex(t.type), () => `expected a complex tensor, found ${t.dtype}`)
  return { offset: 2 * t.offset, shape: [...t.shape, 2], strides: [...t.strides.map((s) => 2 * s), 1], type: realOf(t.type) }
}
