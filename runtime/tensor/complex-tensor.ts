import { type DType, isComplex } from './dtype.js'
import * as features from '../features.js'

/** True for complex tensors, where there is code for them. */
export function holdsComplex(t: { readonly type: DType }): boolean {
  return features.complex && isComplex(t.type)
}
