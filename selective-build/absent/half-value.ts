import { absent } from '../../runtime/error.js'
import { type DType, dtypeName } from '../../runtime/tensor/dtype.js'

export function halfValue(_: number, type: DType): never {
  throw absent(dtypeName(type))
}
