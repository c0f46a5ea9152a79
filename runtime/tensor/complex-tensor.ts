import { type DType, isComplex } from './dtype.js'

/** True for complex tensors, where there is code for them. */
export function holdsComplex(t: { readonly type: DType }): boolean {
  return isComplex(t.type)
}
