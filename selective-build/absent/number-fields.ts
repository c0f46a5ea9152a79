import { absent } from '../../runtime/error.js'

export function numberFields(): never {
  throw absent('an operator on a tensor and a number', 'MISSING_KERNEL')
}
