export { promoteTypes as joined } from '../../runtime/tensor/promote-types.js'
export { promote as promoteAny } from '../../runtime/tensor/promote.js'

const never = (): boolean => false
export { never as isComplexOperand, never as anyComplex }

export function notComplex<T>(value: T): T {
  return value
}
