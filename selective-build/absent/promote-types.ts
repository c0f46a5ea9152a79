import { absent } from '../../runtime/error.js'
import { type DType, dtypeName } from '../../runtime/tensor/dtype.js'

export function promoteTypes(a: DType, b: DType): DType {
  if (a === b) return a
  throw absent(`an operator on ${dtypeName(a)} and ${dtypeName(b)}`)
}
