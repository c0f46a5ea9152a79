import { itemOf, readTensor } from './data.js'
import { isComplex } from './dtype.js'
import { type AnyScalar, Complex } from './scalar.js'
import type { Tensor } from './tensor.js'
import * as features from '../features.js'

/** itemOf, of complex tensors a complex number. */
export function anyItemOf(t: Tensor): AnyScalar {
  if (!features.complex || !isComplex(t.type) || t.numel !== 1) return itemOf(t)
  const [re, im] = readTensor(t) as Float32Array | Float64Array
  return new Complex(re!, im!)
}
